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
  /** Indices of `kinds`, and costs, in the middle of each cell. */
  cells: Uint8Array;
  costs: Float64Array;
}

/** Has the skeleton two hinges, and nothing else that moves? */
export function hasLandscape({ model }: Session): boolean {
  return model.nv === 2 && model.joints.every((joint) => joint.type === 'revolute' || joint.type === 'fixed');
}

export function landscapeOf(session: Session, side: number): Landscape {
  const [cells, costs] = [new Uint8Array(side * side), new Float64Array(side * side)];
  const objective = new Objective(session.model, session.userGoals());
  const angle = (cell: number): number => -Math.PI + ((cell + 0.5) / side) * 2 * Math.PI;
  try {
    for (let i = 0; i < side * side; i++) {
      costs[i] = objective.evaluate([angle(i % side), angle(Math.floor(i / side))], 'hessian');
      cells[i] = kinds.indexOf(objective.definiteness());
    }
  } finally {
    objective.dispose();
  }
  return { side, cells, costs };
}

/** An angle as a part of the way from -180 to 180 degrees. */
export function partOf(angle: number): number {
  const turns = (angle + Math.PI) / (2 * Math.PI);
  return turns - Math.floor(turns);
}

export const angleAt = (part: number): number => (2 * part - 1) * Math.PI;
