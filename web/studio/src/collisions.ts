/** Shapes that must not touch: which pairs are watched, which are too near now, and whether answers keep them apart. */
import { Clearance, type ClosePair, type Model, type Pair, type Shape } from 'poise-ik';
import { counted, length } from './status.js';
import type { Session } from './session.js';

const SAMPLES = 300; // poses that pairs are tried in, to leave out those that always overlap
const MOST_NAMES = 2;
const NEAR = 1e-6; // room below which a pair holds an answer back, in sizes of the skeleton

export class Collisions {
  /** Between shapes, in length units. */
  margin = 0;
  /** Answers keep them apart. */
  keeps = false;
  #clearance: Clearance | null = null;

  constructor(
    readonly model: Model,
    readonly shapes: readonly Shape[],
    readonly excluded: readonly Pair[],
  ) {}

  /** What solvers take; found when it is asked for first. */
  get clearance(): Clearance {
    return (this.#clearance ??= new Clearance(this.model, this.shapes, { margin: this.margin, samples: SAMPLES, excluded: this.excluded }));
  }

  /** Another margin: solvers have to be made anew. */
  setMargin(margin: number): void {
    this.margin = Math.max(0, margin);
    this.#clearance?.dispose();
    this.#clearance = null;
  }

  /** The pairs that are nearer than they may be, and, where answers keep apart, those that hold them back. */
  near(session: Session): ClosePair[] {
    return this.clearance.close(session.kinematics, this.keeps ? NEAR * session.size() : 0);
  }

  /** Names of a pair's bodies. */
  nameOf(pair: number): string {
    const { a, b } = this.clearance.pairs[pair]!;
    const name = (shape: number) => this.model.joints[this.shapes[shape]!.body]?.body ?? 'the world';
    return `${name(a)} and ${name(b)}`;
  }

  /** The bodies of pairs. */
  bodiesOf(list: readonly ClosePair[]): number[] {
    return [...new Set(list.flatMap(({ pair }) => [this.clearance.pairs[pair]!.a, this.clearance.pairs[pair]!.b]).map((shape) => this.shapes[shape]!.body))].filter((body) => body >= 0);
  }

  /** Which pairs touch or hold, in words; '' where none does. */
  describe(list: readonly ClosePair[], metres: number): string {
    const names = [...new Set(list.map(({ pair }) => this.nameOf(pair)))];
    if (names.length === 0) {
      return '';
    }
    const shown = names.length > MOST_NAMES ? `${names.slice(0, MOST_NAMES).join(', ')} and ${counted(names.length - MOST_NAMES, 'more pair')}` : names.join(', ');
    const { room, distance } = list[0]!;
    const isBroken = room < -NEAR;
    const by = distance < 0 ? ` by ${length(-distance, metres)}` : '';
    return isBroken ? `${distance < 0 ? 'collide' : 'within the margin'}${by}: ${shown}` : `held apart: ${shown}`;
  }

  dispose(): void {
    this.#clearance?.dispose();
    this.#clearance = null;
  }
}
