/** Where the tip of the selected goal, or the picked body, can get: places of random poses within the limits. */
import { Kinematics, type Model, type Vec3 } from 'poise-ik';
import type { App } from './app.js';
import type { Session } from './session.js';
import { Cloud } from './view/cloud.js';

const PLACES = 6000;
const SWING = Math.PI / 2; // of a coordinate without limits, to either side of where it is

/** A generator of numbers from 0 to 1, the same ones each time (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** A point of a body in random poses of the joints that carry it; a root that floats stays, and so do locked joints. */
export function placesOf({ model, q, locked }: Session, body: number, local: Vec3, count = PLACES): Float32Array {
  const random = generator(1);
  const joints = model.path(body).map((joint) => model.joints[joint]!).filter(({ index, type, nq }) => nq > 0 && !type.startsWith('free') && !locked.has(index));
  const kinematics = new Kinematics(model);
  const places = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) {
    const pose = Float64Array.from(q);
    const step = new Float64Array(model.nv);
    for (const joint of joints) {
      draw(model, joint, pose, step, random);
    }
    const next = model.retract(pose, step);
    model.clamp(next);
    places.set(kinematics.update(next).point(body, local), 3 * i);
  }
  kinematics.dispose();
  return places;
}

function draw({ lower, upper }: Model, { q, nq, v, nv }: Model['joints'][number], pose: Float64Array, step: Float64Array, random: () => number): void {
  for (let k = 0; k < nv; k++) {
    const [low, high] = nq === nv ? [lower[q + k]!, upper[q + k]!] : [-Infinity, Infinity];
    if (Number.isFinite(low) && Number.isFinite(high)) {
      pose[q + k] = low + (high - low) * random();
    } else {
      step[v + k] = (nv === 1 ? 2 : 1) * SWING * (2 * random() - 1);
    }
  }
}

export class Reach {
  #cloud: Cloud | null = null;

  constructor(readonly app: App) {}

  get isShown(): boolean {
    return this.#cloud !== null;
  }

  /** How many places are drawn. */
  get count(): number {
    return (this.#cloud?.points.geometry.attributes['position']?.count ?? 0) as number;
  }

  toggle(): void {
    if (this.#cloud) {
      this.clear();
    } else {
      this.#show();
    }
    if (this.app.viewport.eye.untouched) {
      this.app.home();
    }
    this.app.viewport.place();
    this.app.panel.refresh();
  }

  #show(): void {
    const { app } = this;
    const { session } = app;
    const target = session?.targets[app.viewport.handles.selected] ?? session?.targets[0];
    const body = app.selectedJoint >= 0 ? app.selectedJoint : target?.body;
    if (!session || body === undefined) {
      app.notify('Pick a part of the skeleton first: then its reach can be shown.', true);
      return;
    }
    const isTip = target?.body === body;
    const places = placesOf(session, body, isTip ? target.local.position : [0, 0, 0]);
    this.#cloud = new Cloud(places, app.colours.target, app.colours.marker);
    app.viewport.around = Array.from(places);
    app.viewport.world.add(this.#cloud.points);
    app.notify(`Where ${session.model.joints[body]!.body} can get, in ${PLACES} random poses within the limits.`, true);
  }

  clear(): void {
    this.#cloud?.dispose();
    this.#cloud = null;
    this.app.viewport.around = [];
  }
}
