/** The view: floor, light, skeleton, looks, limits, goals, markers, and who looks at them. Draws when something has changed. */
import type { Pose, Vec3 } from 'poise-ik';
import * as THREE from 'three';
import { Body, meshesOf } from './body/body.js';
import type { Look, Looks } from './body/looks.js';
import { CollisionShapes } from './body/collision_shapes.js';
import { Figure, type Part } from './view/figure.js';
import { Backdrop, plainBackdrop } from './view/backdrop.js';
import { Floor } from './view/floor.js';
import { Frames } from './view/frames.js';
import { drawsPlainly } from './view/graphics.js';
import { Light } from './view/light.js';
import { Limits } from './view/limits.js';
import type { Measured } from './measure.js';
import type { Session } from './session.js';
import { diagonal } from './spatial.js';
import type { Colours } from './theme.js';
import { type Camera, Eye } from './view/eye.js';
import { Handles } from './view/handles.js';
import { HoverName } from './view/hover_name.js';
import { MarkerCloud } from './view/marker_cloud.js';
import type { Room } from './view/framing.js';
import { type Axis, sideOf, Triad } from './view/triad.js';
import { Pointer } from './view/pointer.js';

export interface ViewportEvents {
  /** A target is being dragged; the last call of a drag has `done`. */
  drag(index: number, done: boolean): void;
  /** A point of a body, in the body's frame, is dragged to a place; the last call of a drag has `done`. */
  pull(body: number, local: Vec3, point: Vec3, done: boolean): void;
  pickTarget(index: number): void;
  pickPart(part: Part | null): void;
  pickMarker(label: string): void;
  /** A point was clicked on while `measures`. */
  measure(end: Measured): void;
  /** The picture has to be drawn anew. */
  changed(): void;
  /** Where words lie over the stage, on the page; null: nowhere. */
  covered(): DOMRect | null;
  /** The stage has another size: its picture is gone, and has to be there before the page is painted. */
  resized(): void;
}

const STATUS = 40; // pixels at the lower edge of the stage that the words there take
const BESIDE = 12; // pixels between words and the skeleton
const CORNERS = 8; // of a box
const ARROW = 0.15; // of the height of the stage that an arrow of a goal takes, for a gizmo of size 1
const LEAST_ROOM = 0.4; // part of the stage that has to be left beside words to make room for them
const MIDDLE = 1.3; // as much smaller the skeleton may be if it stays in the middle
const ALIKE = 1.6; // sizes up to this ratio are taken for the same
const GENTLE = 7; // the camera catches up by this part of the way in a second, at any frame rate

/** Where the floor is: at the lowest point of what moves freely; under a robot that is fixed, at 0 unless it hangs lower. */
function groundOf(session: Session, up: 'y' | 'z'): number {
  const heights = session.landmarks(false).filter((_, i) => i % 3 === (up === 'y' ? 1 : 2));
  const lowest = heights.reduce((least, x) => Math.min(least, x), Infinity);
  const isFixed = session.hasSkeleton && session.model.joints.every((joint) => joint.parent >= 0 || !joint.type.startsWith('free'));
  return !Number.isFinite(lowest) ? 0 : isFixed ? Math.min(0, lowest) : lowest;
}

export class Viewport {
  readonly renderer: THREE.WebGLRenderer;
  readonly eye: Eye;
  readonly handles: Handles;
  readonly markers = new MarkerCloud();
  readonly hover: HoverName;
  readonly triad = new Triad((axis) => this.lookAlong(axis));
  showLimits: 'none' | 'picked' | 'all' = 'picked';
  /** Clicks choose points to measure between. */
  measures = false;
  /** Further points that a whole view shows, three numbers each. */
  around: readonly number[] = [];
  #scene = new THREE.Scene();
  #backdrop = new Backdrop();
  #floor = new Floor();
  #light: Light;
  #plain: boolean;
  #world = new THREE.Group(); // model units inside, about one unit of size outside
  #figure: Figure | null = null;
  #body: Looks | null = null;
  #shapes: CollisionShapes | null = null;
  #look: Look = 'solid';
  #limits: Limits | null = null;
  #frames: Frames | null = null;
  #showsFrames = false;
  #session: Session | null = null;
  #colours: Colours;
  #selectedJoint = -1;
  #size = 1;
  #planar = false;
  #ground = 0; // height of the floor: where the skeleton stands
  #travels = false; // the timeline leads far away
  #middle: THREE.Vector3 | null = null; // what the camera goes along with
  #coarse = matchMedia('(pointer: coarse)').matches;
  #stale = true; // the picture is not up to date

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly events: ViewportEvents,
    colours: Colours,
  ) {
    this.#colours = colours;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.NeutralToneMapping; // bright faces keep their colour
    this.#plain = drawsPlainly(this.renderer);
    this.#light = new Light(this.#plain);
    const changed = () => this.#spoil();
    if (!this.#plain) {
      void this.#light.reflect(this.renderer, this.#scene).then(changed);
    }
    this.eye = new Eye(canvas, changed);
    this.handles = new Handles(this.camera, canvas, { drag: events.drag, held: (on) => (this.eye.orbit.enabled = !on), changed });
    this.#scene.add(this.#world, this.#floor.lines, this.#light.group, this.handles.gizmo.getHelper());
    this.#world.add(this.handles.group, this.markers.group);
    canvas.parentElement!.append(this.triad.root);
    this.hover = new HoverName(canvas.parentElement as Element);
    new Pointer(this);
    new ResizeObserver(() => {
      this.resize();
      events.resized();
    }).observe(canvas.parentElement as Element);
    this.paint(colours);
  }

  #spoil(): void {
    this.#stale = true;
    this.events.changed();
  }

  get camera(): Camera {
    return this.eye.camera;
  }

  /** Of the skeleton, in length units: as many are one unit of the picture's space. */
  get size(): number {
    return this.#size;
  }

  // ---- The stage ---------------------------------------------------------------------------------------------------------

  /** Show another session, from a good place. `planar`: the skeleton lies in the plane z = 0. */
  show(session: Session, planar: boolean): void {
    this.#session = session;
    this.#selectedJoint = -1;
    this.#planar = planar;
    this.#body?.dispose();
    this.#body = null;
    this.setShapes(session);
    this.markers.show(session);
    this.#fit(session);
    this.home();
  }

  /** Make everything as large as the size of the session asks for. */
  #fit(session: Session): void {
    const { model } = session;
    this.#size = session.size();
    this.#figure?.dispose();
    this.#limits?.dispose();
    this.#frames?.dispose();
    this.#figure = new Figure(model, this.#size);
    this.#limits = new Limits(model, 0.09 * this.#size);
    this.#frames = new Frames(model.joints.length + model.tools.length, 0.07 * this.#size);
    this.#frames.lines.visible = this.#showsFrames;
    this.#showFigure();
    this.#world.add(this.#figure.group, this.#limits.group, this.#frames.lines);
    this.#world.scale.setScalar(1 / this.#size);
    this.#ground = this.#planar ? 0 : groundOf(session, this.up) / this.#size;
    this.#travels = this.#doesTravel(session);
    this.handles.show(session, this.#planar, this.#size);
    this.paint(this.#colours);
  }

  /** The looks of the skeleton, which may come piece by piece: `dressed` tells of each. */
  setBody(body: Looks): void {
    this.#body?.dispose();
    this.#body = body;
    this.#world.add(body.group);
    this.dressed();
  }

  /** More of the looks has arrived; at the end the view is made to hold all of it. */
  dressed(whole = false): void {
    this.#body?.setLook(this.#look);
    this.#setShadows();
    this.#showFigure();
    this.place();
    if (whole && this.#session && this.#body && !this.#planar) {
      this.#takeIn(this.#session, this.#body.corners());
    }
    if (whole && this.eye.untouched) {
      this.home();
    }
  }

  /** A piece of the looks has arrived. Where the processor draws, a frame of a large robot takes seconds: it waits for the others. */
  pieceArrived(): void {
    if (!this.#plain) {
      this.dressed();
    }
  }

  /** All of the looks is there. Where it is far smaller or larger than the skeleton, it gives the size; nothing sticks in the floor. */
  #takeIn(session: Session, corners: readonly number[]): void {
    const size = diagonal([...session.standing(), ...corners]);
    if (corners.length > 0 && Math.max(size / this.#size, this.#size / size) > ALIKE) {
      const { selected } = this.handles;
      session.bulk = size;
      this.#fit(session);
      this.handles.select(selected);
      this.selectJoint(this.#selectedJoint);
      this.place();
    }
    const heights = corners.filter((_, i) => i % 3 === (this.up === 'y' ? 1 : 2));
    this.#ground = heights.reduce((least, x) => Math.min(least, x / this.#size), this.#ground);
  }

  /** Collision shapes, which can be drawn over everything. */
  setShapes({ collisions }: Session): void {
    this.#shapes?.dispose();
    this.#shapes = collisions ? new CollisionShapes(collisions.shapes) : null;
    if (this.#shapes) {
      this.#world.add(this.#shapes.group);
      this.#shapes.group.visible = false;
      this.#shapes.paint(this.#colours);
    }
  }

  /** Bodies in the colour of limits. */
  tinted: readonly number[] = [];

  /** Collision shapes that are drawn, and the margin around them. */
  get shapesDrawn(): { shapes: number; margin: number } {
    return this.showsShapes ? { shapes: this.#shapes!.shapes.length, margin: this.#shapes!.margin } : { shapes: 0, margin: 0 };
  }

  get showsShapes(): boolean {
    return this.#shapes?.group.visible ?? false;
  }

  showShapes(on: boolean): void {
    if (this.#shapes) {
      this.#shapes.group.visible = on;
      this.#shapes.setMargin(on ? (this.#session?.collisions?.margin ?? 0) : 0);
      this.place();
      if (this.eye.untouched) {
        this.home(); // they may be larger than what is seen
      }
    }
  }

  get showsFrames(): boolean {
    return this.#showsFrames;
  }

  /** Begin and end of every axis that is drawn, three numbers each. */
  get frameAxes(): number[] {
    return this.#showsFrames ? Array.from(this.#frames?.lines.geometry.attributes['position']!.array ?? []) : [];
  }

  /** Coordinate frames of all bodies and tools. */
  showFrames(on: boolean): void {
    this.#showsFrames = on;
    if (this.#frames) {
      this.#frames.lines.visible = on;
      this.place();
    }
  }

  /** Bodies that limits hold, or whose shapes are too near to others. */
  #heldBodies(session: Session): number[] {
    const { collisions, near } = session;
    if (this.showsShapes && collisions) {
      const pairs = near.map(({ pair }) => collisions.clearance.pairs[pair]!);
      this.#shapes!.mark(new Set(pairs.flatMap(({ a, b }) => [a, b])), near.flatMap(({ onA, onB }) => [...onA, ...onB]));
    }
    return [...new Set([...session.hindrance.joints, ...(collisions ? collisions.bodiesOf(near) : [])])];
  }

  /** What holds everything that is in the model's units. */
  get world(): THREE.Group {
    return this.#world;
  }

  /** The shapes of the skeleton: a group for each body. A character's skin is not cut into such. */
  get body(): THREE.Group | null {
    return this.#body instanceof Body ? this.#body.group : null;
  }

  get hasBody(): boolean {
    return !!this.#body && !this.#body.isEmpty;
  }

  get look(): Look {
    return this.hasBody ? this.#look : 'bones';
  }

  setLook(look: Look): void {
    this.#look = look;
    this.dressed();
  }

  get meshCount(): number {
    return this.#body ? meshesOf(this.#body.group).length : 0;
  }

  /** Meshes with a picture on them. */
  get pictureCount(): number {
    const materials = this.#body ? meshesOf(this.#body.group).map((mesh) => [mesh.material].flat()) : [];
    return materials.filter((list) => list.some((material) => (material as THREE.MeshStandardMaterial).map)).length;
  }

  /** Low and high corner of all shapes, in the model's space. */
  get bodyBox(): number[] {
    const box = new THREE.Box3().setFromArray(this.#body?.corners() ?? []);
    return [...box.min.toArray(), ...box.max.toArray()];
  }

  /** Shadows of parts on parts. */
  #setShadows(): void {
    for (const mesh of this.#body && !this.#plain ? meshesOf(this.#body.group) : []) {
      mesh.receiveShadow = this.#look !== 'xray';
    }
  }

  get showsBones(): boolean {
    return this.#figure?.group.visible ?? false;
  }

  get bonesDrawn(): number {
    return this.#figure?.bones ?? 0;
  }

  #showFigure(): void {
    if (this.#figure) {
      this.#figure.group.visible = (this.#session?.hasSkeleton ?? false) && (this.look !== 'solid' || (this.#body?.isSparse ?? false));
    }
  }

  /** The axis that points upwards. */
  get up(): 'y' | 'z' {
    return this.#planar || this.#session?.stage.scale.up === 'y' ? 'y' : 'z';
  }

  /** Height of the floor in the model's space. */
  get ground(): number {
    return this.#ground * this.#size;
  }

  paint(colours: Colours): void {
    this.#spoil();
    this.#colours = colours;
    this.#backdrop.paint(colours.stage, colours.glow);
    this.#scene.background = this.#plain ? plainBackdrop(colours.stage, colours.glow) : this.#backdrop.texture;
    this.#floor.paint(colours.grid);
    this.#light.paint(colours.shadow);
    this.handles.paint(colours);
    this.triad.paint(colours.axes);
    this.#figure?.paint(colours);
    this.#limits?.paint(colours.limit);
    this.#frames?.paint(colours.axes);
    this.#shapes?.paint(colours);
    this.markers.paint(colours);
  }

  // ---- Looking -----------------------------------------------------------------------------------------------------------

  /** The camera where it shows everything, beside the words that lie over the stage; where the timeline leads far away, what is there now. */
  home(): void {
    const session = this.#session;
    if (session) {
      const shown = this.#travels ? session.standing() : session.landmarks();
      const corners = [...(this.hasBody ? this.#body!.corners() : []), ...(this.showsShapes ? this.#shapes!.corners() : [])];
      const points = shown.concat(corners, this.around).map((x) => x / this.#size);
      const direction = this.#planar ? new THREE.Vector3(0, 0, 1) : this.up === 'y' ? new THREE.Vector3(0.75, 0.35, 1) : new THREE.Vector3(1, -1.1, 0.55);
      const stage = this.canvas.getBoundingClientRect();
      const most = this.#coarse || stage.width < stage.height ? 0.66 : 0.74;
      const partOf = ({ top, bottom }: Room) => Math.min(most, 1 - (2 * ARROW * this.handles.gizmo.size) / (bottom - top)); // the arrows of a goal take the rest
      const show = (room: Room) => this.eye.show(points, direction, new THREE.Vector3(0, this.up === 'y' ? 1 : 0, this.up === 'y' ? 0 : 1), room, partOf(room));
      const all = { left: 0, right: 1, top: 0, bottom: 1 - STATUS / Math.max(4 * STATUS, stage.height) };
      show(all);
      const words = this.events.covered();
      if (words && (this.#isUnder(words, shown, 1) || this.#isUnder(words, corners, CORNERS))) {
        const below = { ...all, top: (words.bottom - stage.top) / stage.height };
        const beside = { ...all, left: (words.right - stage.left) / stage.width };
        const rooms = [below, beside].filter(({ left, right, top, bottom }) => right - left > LEAST_ROOM && bottom - top > LEAST_ROOM);
        const distances = new Map(rooms.map((room) => [room, show(room) * (room === beside ? MIDDLE : 1)]));
        show(rooms.sort((a, b) => distances.get(a)! - distances.get(b)!)[0] ?? all);
      }
      this.#middle = null;
      this.#placeGround();
    }
  }

  /** Does a box of the page cover some of these points, or of what each group of so many of them encloses? */
  #isUnder(box: DOMRect, points: readonly number[], group: number): boolean {
    for (let i = 0; i + 3 * group <= points.length; i += 3 * group) {
      const seen = Array.from({ length: group }, (_, k) => this.project(points.slice(i + 3 * k, i + 3 * k + 3)));
      const [x, y] = [seen.map((at) => at.x), seen.map((at) => at.y)];
      if (Math.max(...x) > box.left - BESIDE && Math.min(...x) < box.right + BESIDE && Math.max(...y) > box.top - BESIDE && Math.min(...y) < box.bottom + BESIDE) {
        return true;
      }
    }
    return false;
  }

  #placeGround(): void {
    const { target } = this.eye.orbit;
    this.#floor.place(this.#planar ? 'z' : this.up, target, this.#ground);
    this.#light.place(this.up, target, this.#ground, this.#planar);
    this.#scene.environmentRotation.x = this.up === 'z' ? Math.PI / 2 : 0;
  }

  /** Does the timeline lead further than a view that shows all of it well? */
  #doesTravel(session: Session): boolean {
    if (session.duration === 0 || !session.hasSkeleton) {
      return false;
    }
    const box = new THREE.Box3().setFromArray(session.landmarks());
    return box.getSize(new THREE.Vector3()).length() > 1.7 * this.#size;
  }

  /** Go along with a skeleton that travels, gently. */
  accompany(seconds: number): void {
    const session = this.#session;
    if (!session || !this.#travels || this.handles.gizmo.dragging) {
      return;
    }
    const now = new THREE.Box3().setFromArray(session.standing()).getCenter(new THREE.Vector3()).divideScalar(this.#size);
    now[this.up] = 0;
    this.#middle ??= now.clone();
    const step = now.sub(this.#middle).multiplyScalar(1 - Math.exp(-GENTLE * seconds));
    this.#middle.add(step);
    this.eye.shift(step);
    this.#placeGround();
  }

  /** From one of the six sides. */
  lookAlong(axis: Axis): void {
    this.eye.face(sideOf(axis, this.camera));
  }

  /** With perspective, or without. */
  setFlat(on: boolean): void {
    this.eye.setFlat(on);
    this.handles.gizmo.camera = this.camera;
    this.#spoil();
  }

  /** Look at a point of the model's space from nearby, from the same side. */
  focus(point: Vec3): void {
    this.eye.focus(new THREE.Vector3(...point).divideScalar(this.#size));
  }

  // ---- Picking -----------------------------------------------------------------------------------------------------------

  selectJoint(joint: number): void {
    this.#selectedJoint = joint;
    this.#figure?.select(joint);
    this.#body?.select(joint, this.#colours.picked);
  }

  /** The part of the skeleton under a ray. */
  partAt(ray: THREE.Raycaster): { part: Part; at: THREE.Vector3 } | null {
    return (this.#figure?.group.visible ? this.#figure.pick(ray) : null) ?? this.#body?.pick(ray) ?? null;
  }

  /** Say what is at a place of the page: a marker, or a part of the skeleton. */
  tell(x: number, y: number, part: Part | null): void {
    const session = this.#session;
    const marker = this.markers.at(x, y, (point) => this.project(point));
    if (session && marker !== null) {
      this.hover.showMarker(marker, this.markers.missOf(marker), session.stage.scale.metres, x, y);
    } else if (session && part) {
      this.hover.show(session.model.joints[part.body]!.body, x, y);
    } else {
      this.hover.hide();
    }
  }

  poseOf(body: number): Pose | null {
    return this.#session?.kinematics.bodyPose(body) ?? null;
  }

  // ---- Drawing -----------------------------------------------------------------------------------------------------------

  resize(): void {
    const { clientWidth, clientHeight } = this.canvas.parentElement as HTMLElement;
    if (clientWidth > 0 && clientHeight > 0) {
      const aspect = clientWidth / clientHeight;
      this.#spoil();
      this.renderer.setSize(clientWidth, clientHeight, false);
      this.eye.resize(aspect);
      this.handles.gizmo.setSize((this.#coarse ? 1.2 : 0.85) * Math.min(1, 1.3 * aspect)); // a part of the height, as it is
      if (this.eye.untouched) {
        this.home();
      }
    }
  }

  /** Bring all shapes where the session is. */
  place(): void {
    const session = this.#session;
    if (!session || !this.#figure) {
      return;
    }
    this.#spoil();
    const { kinematics } = session;
    this.#figure.place(kinematics.poses, kinematics.toolPoses);
    session.near = session.collisions && (this.showsShapes || session.collisions.keeps) ? session.collisions.near(session) : [];
    const held = this.#heldBodies(session);
    this.tinted = held;
    this.#figure.hold(held);
    this.#body?.place(kinematics.poses);
    this.#body?.hold(held, this.#colours.limit);
    this.#shapes?.place(kinematics.poses);
    this.#limits?.place(kinematics.poses, session.q, (joint) => this.showLimits === 'all' || (this.showLimits === 'picked' && joint === this.#selectedJoint));
    this.#frames?.place(kinematics.poses, kinematics.toolPoses);
    this.handles.place(session);
    this.markers.place(session);
  }

  /** Draw, unless nothing has changed. */
  draw(): void {
    if (this.#stale) {
      this.#stale = false;
      this.renderer.render(this.#scene, this.camera);
      this.triad.turn(this.camera);
    }
  }

  /** Where a point of the model's space is on the page, in pixels. */
  project(point: readonly number[]): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    this.camera.updateMatrixWorld(); // it may have moved since it last drew
    const at = new THREE.Vector3(...(point as [number, number, number])).divideScalar(this.#size).project(this.camera);
    return { x: box.left + ((at.x + 1) / 2) * box.width, y: box.top + ((1 - at.y) / 2) * box.height };
  }
}
