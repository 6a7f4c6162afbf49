/** What the user does with goals: add, remove, nudge, and pull on the skeleton itself. */
import { identityPose, type Vec3 } from 'poise-ik';
import type { App } from './app.js';
import { beginFlight, type Flight, flightWords } from './posing/flight.js';
import type { Session } from './session.js';
import { compose } from './spatial.js';
import { type GoalKind, likelyEnd } from './targets.js';

const TURN = Math.PI / 36; // of a goal by one key

export class GoalActions {
  #pulling: { index: number; from: Vec3; position: Vec3 } | null = null;

  #flight: Flight | null = null; // of the drag that goes on
  #told: Session | null = null;

  constructor(readonly app: App) {}

  /** The handle of a goal was dragged. */
  drag(index: number, done: boolean): void {
    const { session } = this.app;
    this.#flight ??= session && beginFlight(session);
    session?.edited(index, done);
    this.app.touch();
    if (done) {
      this.app.commit();
      this.#tellOfFlight(index);
    }
  }

  /** The skeleton has gone to the goal as a whole, which is rarely meant: once for each stage. */
  #tellOfFlight(index: number): void {
    const { session } = this.app;
    const words = session && this.#flight && flightWords(session, this.#flight, index);
    this.#flight = null;
    if (words && this.#told !== session) {
      this.#told = session;
      this.app.notify(words, true);
    }
  }

  /**
   * A point of a body is dragged. A goal of that body goes along; without one the point is pulled, as long as the pointer holds
   * it, and where a motion plays it becomes a goal.
   */
  pull(body: number, local: Vec3, point: Vec3, done: boolean): void {
    const { session } = this.app;
    if (!session || session.live || session.model.nv === 0) {
      return;
    }
    session.byHand = false;
    if (!this.#pulling) {
      const held = session.targets.findIndex((target) => target.enabled && target.body === body && target.kind !== 'aim');
      const index = held < 0 && session.duration > 0 ? this.#addPulled(session, body, local) : held;
      this.#pulling = { index, from: point, position: session.targets[index]?.position ?? point };
    }
    const { index, from, position } = this.#pulling;
    const target = session.targets[index];
    if (target) {
      target.position = [0, 1, 2].map((k) => position[k]! + point[k]! - from[k]!) as unknown as Vec3;
      session.edited(index, done);
    } else {
      session.pullAt(body, local, point);
    }
    this.app.touch();
    if (done) {
      session.letGo();
      this.#pulling = null;
      this.app.commit();
    }
  }

  #addPulled(session: Session, body: number, local: Vec3): number {
    session.addTarget('position', body, { ...identityPose, position: local });
    this.#selectLast(session);
    return session.targets.length - 1;
  }

  #selectLast(session: Session): void {
    this.app.viewport.handles.rebuild();
    this.app.viewport.handles.select(session.targets.length - 1);
  }

  /** A goal for the picked body; without one, for an end of the skeleton that has none. A pin keeps the body where it is. */
  add(kind: GoalKind): void {
    const { session, selectedJoint } = this.app;
    if (!session || session.model.nv === 0) {
      return;
    }
    const { model } = session;
    const taken = new Set(session.targets.map((t) => t.body));
    const free = likelyEnd(session.kinematics, (body) => !taken.has(body));
    const body = selectedJoint >= 0 ? selectedJoint : (free?.body ?? model.joints.length - 1);
    const tool = selectedJoint < 0 && free ? free.local : model.tools.find((t) => t.body === body)?.pose;
    session.addTarget(kind, body, kind === 'pin' ? identityPose : (tool ?? identityPose));
    this.#selectLast(session);
    this.app.commit();
  }

  remove(index: number): void {
    const { session, viewport } = this.app;
    if (session?.targets[index]) {
      session.targets.splice(index, 1);
      session.changed();
      viewport.handles.rebuild();
      this.app.commit();
    }
  }

  /** Move the selected goal by a hundredth of the skeleton's size to the right, up or away, or turn it about that axis. */
  nudge([right, up, away]: readonly [number, number, number]): void {
    const { session, viewport } = this.app;
    const direction: Vec3 = viewport.up === 'y' ? [right, up, -away] : [right, away, up];
    const index = viewport.handles.selected;
    const target = session?.targets[index];
    if (target && session) {
      if (viewport.handles.mode === 'rotate') {
        const [x, y, z] = direction.map((d) => Math.sin(TURN / 2) * d) as [number, number, number];
        const turned = compose({ position: [0, 0, 0], rotation: [x, y, z, Math.cos(TURN / 2)] }, { position: [0, 0, 0], rotation: target.rotation });
        target.rotation = turned.rotation;
      } else {
        const step = 0.01 * session.size();
        const [x, y, z] = target.position;
        target.position = [x + step * direction[0], y + step * direction[1], z + step * direction[2]];
      }
      session.edited(index, true);
      this.app.commit();
    }
  }

  /** A keyframe of the selected goal at the present time; without `on`, none. */
  key(on: boolean, index = this.app.viewport.handles.selected): void {
    const { session } = this.app;
    if (session?.targets[index]) {
      if (on) {
        session.key(index);
      } else {
        session.unkey(index);
      }
      this.app.commit();
    }
  }
}
