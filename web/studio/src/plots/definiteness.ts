/** The cost of a two-joint arm over both angles, for the present goals, and where its Hessian is positive definite. */
import { Objective } from 'poise-ik';
import type { Session } from '../session.js';

export const kinds = ['positive', 'negative', 'indefinite', 'semi_positive', 'semi_negative'] as const;

export const names: Record<(typeof kinds)[number], string> = {
  positive: 'positive definite',
  negative: 'negative definite',
  indefinite: 'indefinite',
  semi_positive: 'positive semidefinite',
  semi_negative: 'negative semidefinite',
};

/** Over angles from -pi to pi, `side` cells along each, the first angle along a row. */
export interface Landscape {
  side: number;
  /** In the middle of each cell: the cost, and both eigenvalues of its Hessian. */
  costs: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

const NOTHING = 1e-12; // an eigenvalue beside the other

/** Index of `kinds`, by the lower and the higher eigenvalue. */
function kindOf(low: number, high: number): number {
  const small = NOTHING * Math.max(Math.abs(low), Math.abs(high));
  return low > small ? 0 : high < -small ? 1 : low < -small && high > small ? 2 : low >= -small ? 3 : 4;
}

/** Eigenvalues of [a b; b d]: (a + d) / 2 -+ sqrt((a - d)^2 / 4 + b^2). */
function eigenvalues(a: number, b: number, d: number): [number, number] {
  const [middle, away] = [(a + d) / 2, Math.hypot((a - d) / 2, b)];
  return [middle - away, middle + away];
}

/** Has the skeleton two hinges, and nothing else that moves? */
export function hasLandscape({ model }: Session): boolean {
  return model.nv === 2 && model.joints.every((joint) => joint.type === 'revolute' || joint.type === 'fixed');
}

export function landscapeOf(session: Session, side: number): Landscape {
  const [costs, low, high] = [new Float64Array(side * side), new Float64Array(side * side), new Float64Array(side * side)];
  const objective = new Objective(session.model, session.userGoals());
  const angle = (cell: number): number => -Math.PI + ((cell + 0.5) / side) * 2 * Math.PI;
  try {
    for (let i = 0; i < side * side; i++) {
      costs[i] = objective.evaluate([angle(i % side), angle(Math.floor(i / side))], 'hessian');
      const [a, b, , d] = objective.hessian() as unknown as [number, number, number, number];
      [low[i], high[i]] = eigenvalues(a, b, d);
    }
  } finally {
    objective.dispose();
  }
  return { side, costs, low, high };
}

/** Indices of `kinds` in a picture of `pixels` along each angle, row by row from the second angle's end: eigenvalues between the middles of cells. */
export function kindsOver({ side, low, high }: Landscape, pixels: number): Uint8Array {
  const picture = new Uint8Array(pixels * pixels);
  const place = (p: number) => Math.min(side - 1, Math.max(0, ((p + 0.5) / pixels) * side - 0.5));
  for (let y = 0; y < pixels; y++) {
    const v = place(pixels - 1 - y);
    const [below, t] = [Math.min(side - 2, Math.floor(v)) * side, v - Math.min(side - 2, Math.floor(v))];
    for (let x = 0; x < pixels; x++) {
      const u = place(x);
      const left = Math.min(side - 2, Math.floor(u));
      const s = u - left;
      const at = (list: Float64Array) =>
        (1 - t) * ((1 - s) * list[below + left]! + s * list[below + left + 1]!) + t * ((1 - s) * list[below + side + left]! + s * list[below + side + left + 1]!);
      picture[y * pixels + x] = kindOf(at(low), at(high));
    }
  }
  return picture;
}

/** An angle as a part of the way from -180 to 180 degrees. */
export function partOf(angle: number): number {
  const turns = (angle + Math.PI) / (2 * Math.PI);
  return turns - Math.floor(turns);
}

export const angleAt = (part: number): number => (2 * part - 1) * Math.PI;
