/** The view: camera, floor, skeleton, limits, handles of goals with a gizmo, markers. Draws when something has changed. */
import type { Shape, Vec3 } from 'poise-ik';
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { TransformControls } from 'three/addons/controls/TransformControls.js';
import { type Body, type Look, meshesOf } from './body/body.js';
import { CollisionShapes } from './body/collision_shapes.js';
import { Figure, type Part } from './figure.js';
import { Floor } from './floor.js';
import { frame } from './framing.js';
import { Light } from './light.js';
import { Limits } from './limits.js';
import type { Session } from './session.js';
import type { Target } from './targets.js';
import type { Colours } from './theme.js';

export interface ViewportEvents {
  /** A target is being dragged; the last call of a drag has `done`. */
  drag(index: number, done: boolean): void;
  /** A point of a body, in the body's frame, is dragged to a place; the last call of a drag has `done`. */
  pull(body: number, local: Vec3, point: Vec3, done: boolean): void;
  pickTarget(index: number): void;
  pickPart(part: Part | null): void;
}

const CLICK = 4; // pixels that a click may wander
const GENTLE = 7; // the camera catches up by this part of the way in a second, at any frame rate
const CLOSE = 0.9; // distance of a focus, in sizes of the skeleton

/** A white disc, so that points are round. */
function disc(): THREE.Texture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 32;
  const g = canvas.getContext('2d') as CanvasRenderingContext2D;
  g.fillStyle = '#ffffff';
  g.arc(16, 16, 15, 0, 2 * Math.PI);
  g.fill();
  return new THREE.CanvasTexture(canvas);
}

/** Where the floor is: at the lowest point of what moves freely; under a robot that is fixed, at 0 unless it hangs lower. */
function groundOf(session: Session, up: 'y' | 'z'): number {
  const heights = session.landmarks(false).filter((_, i) => i % 3 === (up === 'y' ? 1 : 2));
  const lowest = heights.reduce((least, x) => Math.min(least, x), Infinity);
  const isFixed = session.hasSkeleton && session.model.joints.every((joint) => joint.parent >= 0 || !joint.type.startsWith('free'));
  return !Number.isFinite(lowest) ? 0 : isFixed ? Math.min(0, lowest) : lowest;
}

/** A ball for a point, a box for a pose, a diamond for what is looked at, a nail for a pin. */
function handleShape(kind: Target['kind'], r: number): THREE.BufferGeometry {
  switch (kind) {
    case 'position':
      return new THREE.SphereGeometry(r, 20, 14);
    case 'pose':
      return new THREE.BoxGeometry(1.7 * r, 1.7 * r, 1.7 * r);
    case 'aim':
      return new THREE.OctahedronGeometry(1.3 * r);
    case 'pin':
      return new THREE.ConeGeometry(1.1 * r, 2.4 * r, 16);
  }
}

export class Viewport {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 100);
  showLimits: 'none' | 'picked' | 'all' = 'picked';
  #scene = new THREE.Scene();
  #floor = new Floor();
  #light = new Light();
  #world = new THREE.Group(); // model units inside, about one unit of size outside
  #orbit: OrbitControls;
  #gizmo: TransformControls;
  #figure: Figure | null = null;
  #body: Body | null = null;
  #shapes: CollisionShapes | null = null;
  #look: Look = 'solid';
  #limits: Limits | null = null;
  #handles: THREE.Mesh[] = [];
  #markers: THREE.Points | null = null;
  #ties: THREE.LineSegments;
  #disc = disc();
  #session: Session | null = null;
  #colours: Colours;
  #selectedTarget = -1;
  #selectedJoint = -1;
  #size = 1;
  #planar = false;
  #ground = 0; // height of the floor: where the skeleton stands
  #untouched = true; // the user has not turned the view
  #travels = false; // the timeline leads far away
  #middle: THREE.Vector3 | null = null; // what the camera goes along with
  #held: { body: number; local: Vec3; facing: THREE.Plane; moved: boolean } | null = null; // a part that the pointer pulls
  #markerCount = 0;
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
    this.#scene.add(this.#world, this.#floor.lines);
    this.#scene.add(this.camera, this.#light.group);
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.#orbit = new OrbitControls(this.camera, canvas);
    this.#orbit.enableDamping = false;
    this.#orbit.zoomToCursor = true;
    this.#orbit.addEventListener('start', () => (this.#untouched = false));
    this.#orbit.addEventListener('change', () => (this.#stale = true));
    this.#gizmo = new TransformControls(this.camera, canvas);
    this.#scene.add(this.#gizmo.getHelper());
    this.#gizmo.addEventListener('dragging-changed', (event) => {
      this.#orbit.enabled = !event.value;
      if (!event.value) {
        this.#dragged(true);
      }
    });
    this.#gizmo.addEventListener('objectChange', () => this.#dragged(false));
    this.#gizmo.addEventListener('change', () => (this.#stale = true));
    this.#ties = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial());
    this.#ties.frustumCulled = false;
    this.#world.add(this.#ties);
    this.#listen();
    this.paint(colours);
  }

  // ---- The stage ---------------------------------------------------------------------------------------------------------

  /** Show another session, from a good place. `planar`: the skeleton lies in the plane z = 0. */
  show(session: Session, planar: boolean): void {
    this.#figure?.dispose();
    this.#limits?.dispose();
    this.#session = session;
    this.#selectedTarget = -1;
    this.#selectedJoint = -1;
    this.#planar = planar;
    this.#size = session.size();
    this.#figure = new Figure(session.model, this.#size);
    this.#limits = new Limits(session.model, 0.09 * this.#size);
    this.#body?.dispose();
    this.#body = null;
    this.setShapes([]);
    this.#showFigure();
    this.#world.add(this.#figure.group, this.#limits.group);
    this.#world.scale.setScalar(1 / this.#size);
    this.#makeMarkers(session);
    this.#ground = planar ? 0 : groundOf(session, this.up) / this.#size;
    this.#travels = this.#doesTravel(session);
    this.rebuildTargets();
    this.paint(this.#colours);
    this.home();
  }

  /** The looks of the skeleton, which may come piece by piece: `dressed` tells of each. */
  setBody(body: Body): void {
    this.#body?.dispose();
    this.#body = body;
    this.#world.add(body.group);
    this.dressed();
  }

  /** More of the looks has arrived; at the end the view is made to hold all of it. */
  dressed(whole = false): void {
    this.#body?.setLook(this.#look);
    this.#showFigure();
    this.place();
    const corners = whole && this.#body && !this.#planar ? this.#body.corners() : [];
    const heights = corners.filter((_, i) => i % 3 === (this.up === 'y' ? 1 : 2));
    this.#ground = heights.reduce((least, x) => Math.min(least, x / this.#size), this.#ground); // nothing sticks in the floor
    if (whole && this.#untouched) {
      this.home();
    }
  }

  /** Collision shapes, which can be drawn over everything. */
  setShapes(shapes: readonly Shape[]): void {
    this.#shapes?.dispose();
    this.#shapes = shapes.length > 0 ? new CollisionShapes(shapes) : null;
    if (this.#shapes) {
      this.#world.add(this.#shapes.group);
      this.#shapes.group.visible = false;
      this.#shapes.paint(this.#colours.limit);
    }
  }

  get hasShapes(): boolean {
    return this.#shapes !== null;
  }

  get showsShapes(): boolean {
    return this.#shapes?.group.visible ?? false;
  }

  showShapes(on: boolean): void {
    if (this.#shapes) {
      this.#shapes.group.visible = on;
      this.place();
    }
  }

  /** What holds everything that is in the model's units. */
  get world(): THREE.Group {
    return this.#world;
  }

  /** The shapes of the skeleton: a group for each body. */
  get body(): THREE.Group | null {
    return this.#body?.group ?? null;
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

  /** Low and high corner of all shapes, in the model's space. */
  get bodyBox(): number[] {
    const box = new THREE.Box3().setFromArray(this.#body?.corners() ?? []);
    return [...box.min.toArray(), ...box.max.toArray()];
  }

  #showFigure(): void {
    if (this.#figure) {
      this.#figure.group.visible = (this.#session?.hasSkeleton ?? false) && this.look !== 'solid';
    }
  }

  /** The axis that points upwards. */
  get up(): 'y' | 'z' {
    return this.#planar || this.#session?.stage.scale.up === 'y' ? 'y' : 'z';
  }

  /** The camera where it shows everything; where the timeline leads far away, what is there now. */
  home(): void {
    const session = this.#session;
    if (!session) {
      return;
    }
    this.#untouched = true;
    const shown = this.#travels ? session.standing() : session.landmarks();
    const points = shown.concat(this.hasBody ? this.#body!.corners() : []).map((x) => x / this.#size);
    const direction = this.#planar ? new THREE.Vector3(0, 0, 1) : this.up === 'y' ? new THREE.Vector3(0.75, 0.35, 1) : new THREE.Vector3(1, -1.1, 0.55);
    this.camera.up.set(0, this.up === 'y' ? 1 : 0, this.up === 'y' ? 0 : 1);
    const { target, position } = frame(points, direction, this.camera.up, this.camera, this.camera.aspect < 1 ? 0.64 : 0.74);
    this.camera.position.copy(position);
    this.#orbit.target.copy(target);
    this.#orbit.update();
    this.#floor.place(this.#planar ? 'z' : this.up, target, this.#ground);
    this.#light.place(this.up, target, this.#ground, this.#planar);
    this.#middle = null;
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
    if (!session || !this.#travels || this.#gizmo.dragging) {
      return;
    }
    const now = new THREE.Box3().setFromArray(session.standing()).getCenter(new THREE.Vector3()).divideScalar(this.#size);
    now[this.up] = 0;
    this.#middle ??= now.clone();
    const step = now.sub(this.#middle).multiplyScalar(1 - Math.exp(-GENTLE * seconds));
    this.#middle.add(step);
    this.camera.position.add(step);
    this.#orbit.target.add(step);
    this.#floor.place(this.up, this.#orbit.target, this.#ground);
    this.#light.place(this.up, this.#orbit.target, this.#ground, this.#planar);
  }

  /** Look at a point of the model's space from nearby, from the same side. */
  focus(point: Vec3): void {
    const at = new THREE.Vector3(...point).divideScalar(this.#size);
    const away = this.camera.position.clone().sub(this.#orbit.target);
    this.#orbit.target.copy(at);
    this.#lookFrom(away.setLength(Math.min(CLOSE, away.length())));
  }

  /** Turn the view about what it looks at, in radians: to the side, and upwards. */
  turn(side: number, rise: number): void {
    const away = this.camera.position.clone().sub(this.#orbit.target);
    const right = new THREE.Vector3().crossVectors(this.camera.up, away).normalize();
    away.applyAxisAngle(this.camera.up, side);
    const angle = away.angleTo(this.camera.up);
    away.applyAxisAngle(right.applyAxisAngle(this.camera.up, side), Math.min(Math.PI - 0.05 - angle, Math.max(0.05 - angle, -rise)));
    this.#lookFrom(away);
  }

  /** Come nearer (above 1) or go away. */
  zoom(by: number): void {
    this.#lookFrom(this.camera.position.clone().sub(this.#orbit.target).divideScalar(by));
  }

  #lookFrom(away: THREE.Vector3): void {
    this.#untouched = false;
    this.camera.position.copy(this.#orbit.target).add(away);
    this.#orbit.update();
  }

  #makeMarkers(session: Session): void {
    this.#markers?.removeFromParent();
    this.#markers?.geometry.dispose();
    this.#markers = null;
    const { markers, placements } = session.stage;
    if (markers) {
      this.#markerCount = placements.length > 0 ? placements.length : markers.count;
      const shape = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * this.#markerCount), 3));
      const size = this.#markerCount > 150 ? 4 : 7;
      this.#markers = new THREE.Points(shape, new THREE.PointsMaterial({ size, sizeAttenuation: false, map: this.#disc, alphaTest: 0.5 }));
      this.#markers.frustumCulled = false;
      this.#world.add(this.#markers);
    }
  }

  paint(colours: Colours): void {
    this.#stale = true;
    this.#colours = colours;
    this.#scene.background = new THREE.Color(colours.stage);
    this.#floor.paint(colours.grid, colours.stage);
    this.#light.paint(colours.shadow);
    this.#gizmo.setColors(...colours.axes, colours.picked);
    this.#figure?.paint(colours);
    this.#limits?.paint(colours.limit);
    this.#shapes?.paint(colours.limit);
    (this.#ties.material as THREE.LineBasicMaterial).color.set(colours.target);
    (this.#markers?.material as THREE.PointsMaterial | undefined)?.color.set(colours.marker);
    this.#handles.forEach((_, i) => this.#paintHandle(i));
  }

  // ---- Targets -----------------------------------------------------------------------------------------------------------

  /** Goals were added or removed. */
  rebuildTargets(): void {
    for (const handle of this.#handles) {
      handle.removeFromParent();
      handle.geometry.dispose();
      (handle.material as THREE.Material).dispose();
    }
    const targets = this.#session?.targets ?? [];
    this.#handles = targets.map((target) => this.#makeHandle(target));
    this.selectTarget(Math.min(this.#selectedTarget, targets.length - 1));
  }

  /** Drawn over everything else: a goal inside the body would be hard to find. */
  #makeHandle(target: Target): THREE.Mesh {
    const handle = new THREE.Mesh(
      handleShape(target.kind, 0.026 * this.#size),
      new THREE.MeshStandardMaterial({ transparent: true, opacity: 0.8, roughness: 0.4, depthTest: false }),
    );
    handle.renderOrder = 1;
    this.#world.add(handle);
    return handle;
  }

  #paintHandle(index: number): void {
    const target = this.#session?.targets[index];
    const material = this.#handles[index]?.material as THREE.MeshStandardMaterial | undefined;
    if (target && material) {
      material.color.set(!target.enabled ? this.#colours.grid : index === this.#selectedTarget ? this.#colours.picked : this.#colours.target);
    }
  }

  /** Put the gizmo on a target; -1: on none. */
  selectTarget(index: number): void {
    this.#selectedTarget = index;
    const handle = this.#handles[index];
    if (handle) {
      this.#gizmo.attach(handle);
      this.gizmoMode(this.#gizmo.mode === 'rotate' && this.turns(index) ? 'rotate' : 'translate');
    } else {
      this.#gizmo.detach();
    }
    this.#handles.forEach((_, i) => this.#paintHandle(i));
  }

  get selectedTarget(): number {
    return this.#selectedTarget;
  }

  /** Does the target's rotation matter? */
  turns(index = this.#selectedTarget): boolean {
    const kind = this.#session?.targets[index]?.kind;
    return kind === 'pose' || kind === 'pin';
  }

  get mode(): 'translate' | 'rotate' {
    return this.#gizmo.mode === 'rotate' ? 'rotate' : 'translate';
  }

  gizmoMode(mode: 'translate' | 'rotate'): void {
    this.#gizmo.setMode(mode === 'rotate' && this.turns() ? mode : 'translate');
    this.#gizmo.showZ = !this.#planar || mode === 'rotate';
  }

  /** Height of the floor in the model's space. */
  get ground(): number {
    return this.#ground * this.#size;
  }

  selectJoint(joint: number): void {
    this.#selectedJoint = joint;
    this.#figure?.select(joint);
    this.#body?.select(joint, this.#colours.picked);
  }

  #dragged(done: boolean): void {
    const target = this.#session?.targets[this.#selectedTarget];
    const handle = this.#handles[this.#selectedTarget];
    if (target && handle) {
      target.position = handle.position.toArray();
      target.rotation = handle.quaternion.toArray();
      this.events.drag(this.#selectedTarget, done);
    }
  }

  // ---- Picking -----------------------------------------------------------------------------------------------------------

  #listen(): void {
    let down: PointerEvent | null = null;
    const still = (event: PointerEvent) => down !== null && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < CLICK;
    this.canvas.addEventListener('pointerdown', (event) => (down = event));
    this.canvas.addEventListener('pointerdown', (event) => this.#grab(event), { capture: true });
    this.canvas.addEventListener('pointermove', (event) => {
      if (this.#held && (this.#held.moved || !still(event))) {
        this.#held.moved = true;
        this.#pull(event, false);
      } else if (event.pointerType === 'mouse' && event.buttons === 0) {
        this.canvas.style.cursor = this.#partAt(event) ? 'grab' : '';
      }
    });
    for (const end of ['pointerup', 'pointercancel'] as const) {
      this.canvas.addEventListener(end, (event) => {
        this.#release(event);
        if (end === 'pointerup' && still(event) && !this.#gizmo.dragging) {
          this.#click(event);
        }
        down = null;
      });
    }
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement as Element);
  }

  #ray(event: PointerEvent): THREE.Raycaster {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray;
  }

  /** The goal under the pointer becomes the selected one before the gizmo hears of it: one movement selects and drags. */
  #grab(event: PointerEvent): void {
    const hit = this.#gizmo.axis ? undefined : this.#ray(event).intersectObjects(this.#handles, false)[0];
    const index = hit ? this.#handles.indexOf(hit.object as THREE.Mesh) : -1;
    if (index >= 0 && index !== this.#selectedTarget) {
      this.events.pickTarget(index);
      this.#gizmo.getHelper().updateMatrixWorld(true);
    }
    this.#release(event); // a second finger
    if (index < 0 && !this.#gizmo.axis && event.button === 0 && event.isPrimary) {
      this.#hold(event);
    }
  }

  /** What of the skeleton is under the pointer, where nothing of a goal is. */
  #partAt(event: PointerEvent): { part: Part; at: THREE.Vector3 } | null {
    const ray = this.#ray(event);
    const free = !this.#gizmo.axis && ray.intersectObjects(this.#handles, false).length === 0;
    return free ? this.#pickPart(ray) : null;
  }

  #pickPart(ray: THREE.Raycaster): { part: Part; at: THREE.Vector3 } | null {
    return (this.#figure?.group.visible ? this.#figure.pick(ray) : null) ?? this.#body?.pick(ray) ?? null;
  }

  /** The pointer takes a part of the skeleton: the view does not turn with it. */
  #hold(event: PointerEvent): void {
    const hit = this.#partAt(event);
    const session = this.#session;
    if (hit && session) {
      const facing = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), hit.at);
      const { position, rotation } = session.kinematics.bodyPose(hit.part.body);
      const local = hit.at.clone().multiplyScalar(this.#size).sub(new THREE.Vector3(...position));
      local.applyQuaternion(new THREE.Quaternion(...rotation).invert());
      this.#held = { body: hit.part.body, local: local.toArray(), facing, moved: false };
      this.#orbit.enabled = false;
      this.canvas.setPointerCapture(event.pointerId);
    }
  }

  #pull(event: PointerEvent, done: boolean): void {
    const at = this.#held && this.#ray(event).ray.intersectPlane(this.#held.facing, new THREE.Vector3());
    if (at && this.#held) {
      this.events.pull(this.#held.body, this.#held.local, at.multiplyScalar(this.#size).toArray(), done);
    }
  }

  #release(event: PointerEvent): void {
    if (this.#held) {
      if (this.#held.moved) {
        this.#pull(event, true);
      }
      this.#held = null;
      this.#orbit.enabled = true;
    }
  }

  #click(event: PointerEvent): void {
    const ray = this.#ray(event);
    if (!this.#gizmo.axis && ray.intersectObjects(this.#handles, false).length === 0) {
      this.events.pickPart(this.#pickPart(ray)?.part ?? null);
    }
  }

  // ---- Drawing -----------------------------------------------------------------------------------------------------------

  resize(): void {
    const { clientWidth, clientHeight } = this.canvas.parentElement as HTMLElement;
    if (clientWidth > 0 && clientHeight > 0) {
      this.#stale = true;
      this.renderer.setSize(clientWidth, clientHeight, false);
      this.camera.aspect = clientWidth / clientHeight;
      this.#gizmo.setSize((this.#coarse ? 1.2 : 0.85) * Math.min(1, 1.3 * this.camera.aspect)); // a part of the height, as it is
      this.camera.updateProjectionMatrix();
      if (this.#untouched) {
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
    this.#stale = true;
    const { kinematics } = session;
    this.#figure.place(kinematics.poses, kinematics.toolPoses);
    this.#body?.place(kinematics.poses);
    this.#shapes?.place(kinematics.poses);
    this.#limits?.place(kinematics.poses, session.q, (joint) => this.showLimits === 'all' || (this.showLimits === 'picked' && joint === this.#selectedJoint));
    session.targets.forEach((target, i) => {
      const handle = this.#handles[i];
      if (handle && !(this.#gizmo.dragging && i === this.#selectedTarget)) {
        handle.position.set(...target.position);
        handle.quaternion.set(...target.rotation);
      }
    });
    this.#placeTies(session);
    this.#placeMarkers(session);
  }

  /** Markers that are not seen go where no camera looks. */
  #placeMarkers(session: Session): void {
    if (this.#markers) {
      const { markers, placements } = session.stage;
      const points = placements.length > 0 ? session.markerPoints() : markers!.frame(session.frame);
      const place = this.#markers.geometry.attributes['position'] as THREE.BufferAttribute;
      const list = place.array as Float32Array;
      for (let i = 0; i < 3 * this.#markerCount; i++) {
        list[i] = Number.isFinite(points[i]!) ? points[i]! : 1e9;
      }
      place.needsUpdate = true;
    }
  }

  /** A line from each goal's point on the body to its target. */
  #placeTies(session: Session): void {
    const { targets, kinematics } = session;
    let place = this.#ties.geometry.attributes['position'] as THREE.BufferAttribute | undefined;
    if (!place || place.count < 2 * targets.length) {
      place = new THREE.BufferAttribute(new Float32Array(6 * Math.max(8, 2 * targets.length)), 3);
      this.#ties.geometry.dispose();
      this.#ties.geometry.setAttribute('position', place);
    }
    let count = 0;
    for (const { enabled, body, local, position } of targets) {
      if (enabled) {
        const [x, y, z] = kinematics.point(body, local.position);
        place.setXYZ(count, x, y, z);
        place.setXYZ(count + 1, ...position);
        count += 2;
      }
    }
    place.needsUpdate = true;
    this.#ties.geometry.setDrawRange(0, count);
    this.#ties.visible = count > 0;
  }

  /** Draw, unless nothing has changed. */
  draw(): void {
    if (this.#stale) {
      this.#stale = false;
      this.renderer.render(this.#scene, this.camera);
    }
  }

  /** Where a point of the model's space is on the page, in pixels. */
  project(point: readonly number[]): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector3(...(point as [number, number, number])).divideScalar(this.#size).project(this.camera);
    return { x: box.left + ((at.x + 1) / 2) * box.width, y: box.top + ((1 - at.y) / 2) * box.height };
  }
}
