/** The view: camera, floor, skeleton, limits, handles of goals with a gizmo, markers. Redraws when told to. */
import type { Up } from 'poise-ik';
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { TransformControls } from 'three/addons/controls/TransformControls.js';
import { Figure, type Part } from './figure.js';
import { Limits } from './limits.js';
import type { Session, Target } from './session.js';
import type { Colours } from './theme.js';

export interface ViewportEvents {
  /** A target is being dragged; the last call of a drag has `done`. */
  drag(index: number, done: boolean): void;
  pickTarget(index: number): void;
  pickPart(part: Part | null): void;
}

const CLICK = 4; // pixels that a click may wander

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

export class Viewport {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 100);
  showLimits: 'none' | 'picked' | 'all' = 'picked';
  #scene = new THREE.Scene();
  #fog = new THREE.Fog(0, 1, 10); // the floor fades into the distance
  #world = new THREE.Group(); // model units inside, about one unit of size outside
  #orbit: OrbitControls;
  #gizmo: TransformControls;
  #figure: Figure | null = null;
  #limits: Limits | null = null;
  #handles: THREE.Mesh[] = [];
  #markers: THREE.Points | null = null;
  #ties: THREE.LineSegments;
  #grid: THREE.GridHelper | null = null;
  #session: Session | null = null;
  #colours: Colours;
  #selectedTarget = -1;
  #selectedJoint = -1;
  #size = 1;
  #planar = false;
  #untouched = true; // the user has not turned the view

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly events: ViewportEvents,
    colours: Colours,
  ) {
    this.#colours = colours;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.#scene.add(this.#world);
    this.#scene.fog = this.#fog;
    // over the viewer's left shoulder, whichever way is up
    const sun = new THREE.DirectionalLight(0xffffff, 2.2);
    sun.position.set(-1, 1.5, 1.2);
    this.camera.add(sun, sun.target);
    this.#scene.add(this.camera, new THREE.AmbientLight(0xffffff, 1.3));
    this.#orbit = new OrbitControls(this.camera, canvas);
    this.#orbit.enableDamping = false;
    this.#orbit.addEventListener('start', () => (this.#untouched = false));
    this.#gizmo = new TransformControls(this.camera, canvas);
    this.#gizmo.setSize(0.8);
    this.#scene.add(this.#gizmo.getHelper());
    this.#gizmo.addEventListener('dragging-changed', (event) => {
      this.#orbit.enabled = !event.value;
      if (!event.value) {
        this.#dragged(true);
      }
    });
    this.#gizmo.addEventListener('objectChange', () => this.#dragged(false));
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
    this.#world.add(this.#figure.group, this.#limits.group);
    this.#world.scale.setScalar(1 / this.#size);
    this.#makeMarkers(session);
    this.#makeGrid(session.stage.scale.up, planar);
    this.rebuildTargets();
    this.paint(this.#colours);
    this.home();
  }

  /** The camera where it shows everything. */
  home(): void {
    const session = this.#session;
    if (!session) {
      return;
    }
    const planar = this.#planar;
    this.#untouched = true;
    const up = session.stage.scale.up;
    const box = new THREE.Box3();
    for (const point of session.landmarks()) {
      box.expandByPoint(new THREE.Vector3().fromArray(point));
    }
    const middle = box.isEmpty() ? new THREE.Vector3() : box.getCenter(new THREE.Vector3());
    const extent = Math.max(0.9, box.isEmpty() ? 0 : box.getSize(new THREE.Vector3()).length() / this.#size);
    middle.divideScalar(this.#size);
    const direction = planar ? new THREE.Vector3(0, 0, 1) : up === 'y' ? new THREE.Vector3(0.75, 0.35, 1) : new THREE.Vector3(1, -1.1, 0.55);
    this.camera.up.set(0, planar || up === 'y' ? 1 : 0, planar || up === 'y' ? 0 : 1);
    const narrow = Math.max(1, 0.8 / this.camera.aspect);
    this.camera.position.copy(middle).addScaledVector(direction.normalize(), 1.6 * extent * narrow);
    this.#orbit.target.copy(middle);
    this.#orbit.update();
  }

  #makeGrid(up: Up, planar: boolean): void {
    this.#grid?.removeFromParent();
    this.#grid = new THREE.GridHelper(20, 80);
    if (planar || up !== 'y') {
      this.#grid.rotation.x = Math.PI / 2;
    }
    this.#scene.add(this.#grid);
  }

  #makeMarkers(session: Session): void {
    this.#markers?.removeFromParent();
    this.#markers = null;
    if (session.stage.markers) {
      const material = new THREE.PointsMaterial({ size: 8 * this.renderer.getPixelRatio(), sizeAttenuation: false, map: disc(), alphaTest: 0.5 });
      this.#markers = new THREE.Points(new THREE.BufferGeometry(), material);
      this.#markers.frustumCulled = false;
      this.#world.add(this.#markers);
    }
  }

  paint(colours: Colours): void {
    this.#colours = colours;
    this.#scene.background = new THREE.Color(colours.stage);
    this.#fog.color.set(colours.stage);
    this.#figure?.paint(colours);
    this.#limits?.paint(colours.limit);
    (this.#ties.material as THREE.LineBasicMaterial).color.set(colours.target);
    (this.#markers?.material as THREE.PointsMaterial | undefined)?.color.set(colours.marker);
    if (this.#grid) {
      const material = this.#grid.material;
      material.vertexColors = false;
      material.color.set(colours.grid);
      material.needsUpdate = true;
    }
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

  #makeHandle(target: Target): THREE.Mesh {
    const r = 0.03 * this.#size;
    const shape =
      target.kind === 'aim' ? new THREE.OctahedronGeometry(1.3 * r) : target.kind === 'pose' ? new THREE.BoxGeometry(1.7 * r, 1.7 * r, 1.7 * r) : new THREE.SphereGeometry(r, 20, 14);
    const handle = new THREE.Mesh(shape, new THREE.MeshStandardMaterial({ transparent: true, opacity: 0.85, roughness: 0.4 }));
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
      this.gizmoMode(this.#gizmo.mode === 'rotate' && this.#session?.targets[index]?.kind === 'pose' ? 'rotate' : 'translate');
    } else {
      this.#gizmo.detach();
    }
    this.#handles.forEach((_, i) => this.#paintHandle(i));
  }

  get selectedTarget(): number {
    return this.#selectedTarget;
  }

  gizmoMode(mode: 'translate' | 'rotate'): void {
    this.#gizmo.setMode(mode);
    this.#gizmo.showZ = !this.#planar || mode === 'rotate';
  }

  selectJoint(joint: number): void {
    this.#selectedJoint = joint;
    this.#figure?.select(joint);
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
    this.canvas.addEventListener('pointerdown', (event) => (down = event));
    this.canvas.addEventListener('pointerup', (event) => {
      const still = down && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) < CLICK;
      if (still && !this.#gizmo.dragging) {
        this.#click(event);
      }
      down = null;
    });
    new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement as Element);
  }

  #click(event: PointerEvent): void {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    const hit = ray.intersectObjects(this.#handles, false)[0];
    if (hit) {
      this.events.pickTarget(this.#handles.indexOf(hit.object as THREE.Mesh));
      return;
    }
    if (!this.#gizmo.axis) {
      this.events.pickPart(this.#figure?.pick(ray) ?? null);
    }
  }

  // ---- Drawing -----------------------------------------------------------------------------------------------------------

  resize(): void {
    const { clientWidth, clientHeight } = this.canvas.parentElement as HTMLElement;
    if (clientWidth > 0 && clientHeight > 0) {
      this.renderer.setSize(clientWidth, clientHeight, false);
      this.camera.aspect = clientWidth / clientHeight;
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
    const { kinematics } = session;
    this.#figure.place(kinematics.poses, kinematics.toolPoses);
    this.#limits?.place(kinematics.poses, session.q, (joint) => this.showLimits === 'all' || (this.showLimits === 'picked' && joint === this.#selectedJoint));
    session.targets.forEach((target, i) => {
      const handle = this.#handles[i];
      if (handle && !(this.#gizmo.dragging && i === this.#selectedTarget)) {
        handle.position.set(...target.position);
        handle.quaternion.set(...target.rotation);
      }
    });
    this.#placeTies(session);
    if (this.#markers) {
      const points = session.stage.placements.length > 0 ? session.markerPoints() : (session.stage.markers?.frame(session.frame) ?? new Float64Array());
      const seen = Array.from(points).filter((_, i) => Number.isFinite(points[i - (i % 3)]!));
      this.#markers.geometry.setAttribute('position', new THREE.Float32BufferAttribute(seen, 3));
    }
  }

  /** A line from each goal's point on the body to its target. */
  #placeTies(session: Session): void {
    const points = session.targets
      .filter((target) => target.enabled)
      .flatMap((target) => [...session.kinematics.point(target.body, target.local.position), ...target.position]);
    this.#ties.geometry.setAttribute('position', new THREE.Float32BufferAttribute(points, 3));
    this.#ties.visible = points.length > 0;
  }

  draw(): void {
    const distance = this.camera.position.distanceTo(this.#orbit.target);
    this.#fog.near = 2 * distance;
    this.#fog.far = 9 * distance;
    this.renderer.render(this.#scene, this.camera);
  }

  /** Where a point of the model's space is on the page, in pixels. */
  project(point: readonly number[]): { x: number; y: number } {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector3(...(point as [number, number, number])).divideScalar(this.#size).project(this.camera);
    return { x: box.left + ((at.x + 1) / 2) * box.width, y: box.top + ((1 - at.y) / 2) * box.height };
  }
}
