/** All answers of an arm to its pose: see-through figures, of which one can be taken. */
import { type Goal, Solver } from 'poise-ik';
import type { App } from './app.js';
import { button, element } from './dom.js';
import { Ghost } from './view/ghost.js';
import type { Session } from './session.js';
import { counted } from './status.js';

const MOST = 16;
const SAME = 1e-3; // radians or length units: the pose on the stage needs no ghost
const SEARCHES = 300; // that the answers are looked for by

/** The one goal of an arm, where all answers to it can be found. */
function poseOf(session: Session): Goal | null {
  const goals = session.userGoals();
  const isChain = session.model.joints.every((joint, i) => joint.parent === i - 1);
  return isChain && goals.length === 1 && goals[0]!.kind === 'pose' && session.duration === 0 && session.locked.size === 0 && !session.loops ? goals[0]! : null;
}

export class Answers {
  #ghosts: Ghost[] = [];
  #list: Float64Array[] = [];
  #of = ''; // the goal that they answer

  constructor(readonly app: App) {}

  /** Can they be asked for? */
  isThere(session: Session): boolean {
    return poseOf(session) !== null;
  }

  /** Find and show them. */
  find(): void {
    const { session, viewport } = this.app;
    const goal = session && poseOf(session);
    if (!session || !goal) {
      return;
    }
    this.clear();
    const solver = new Solver(session.model, { restarts: SEARCHES });
    try {
      this.#list = solver.solveAll(goal, session.q, MOST).solutions;
      this.#of = JSON.stringify(goal);
    } catch (error) {
      this.app.complain(error);
    } finally {
      solver.dispose();
    }
    const others = this.#list.filter((q) => q.some((x, i) => Math.abs(x - session.q[i]!) > SAME));
    this.#ghosts = others.map((q) => {
      const ghost = new Ghost(session, viewport);
      ghost.show(Array.from(q));
      return ghost;
    });
    const count = this.#list.length;
    const more = count === MOST ? ` There are more: ${MOST} are shown.` : '';
    this.app.notify(count === 0 ? 'No answer reaches this pose.' : `${counted(count, 'answer reaches', 'answers reach')} this pose.${more}`, true);
    viewport.place();
    this.app.panel.refresh();
  }

  clear(): void {
    this.#ghosts.forEach((ghost) => ghost.dispose());
    this.#ghosts = [];
    this.#list = [];
  }

  /** The pose has changed: answers to another goal go. */
  follow(session: Session): void {
    if (this.#list.length > 0 && JSON.stringify(poseOf(session)) !== this.#of) {
      this.clear();
      this.app.panel.refresh();
    }
  }

  get count(): number {
    return this.#list.length;
  }

  /** A button to find them, and one to take each. */
  make(session: Session): HTMLElement {
    const take = (q: Float64Array) => {
      session.pose((own) => own.set(q));
      this.app.touch();
      this.app.commit();
    };
    return element(
      'div',
      { className: 'row wrap', role: 'group', 'aria-label': 'All answers' },
      button('All joint values that give this pose (A)', () => this.find(), 'All answers'),
      ...this.#list.map((q, i) => button(`Take answer ${i + 1}`, () => take(q), String(i + 1))),
      this.#list.length > 0 && button('Hide the answers', () => (this.clear(), this.app.viewport.place(), this.app.panel.refresh()), '×'),
    );
  }
}
