/** Where the Hessian of a two-joint arm is positive definite: a map over both angles, for the present goals. */
import { Objective } from 'poise-ik';
import type { Session } from './session.js';

export const SIDE = 60; // cells along each angle

export const kinds = ['positive', 'negative', 'indefinite', 'semi_positive', 'semi_negative'] as const;

export const names: Record<(typeof kinds)[number], string> = {
  positive: 'positive definite',
  negative: 'negative definite',
  indefinite: 'indefinite',
  semi_positive: 'positive semidefinite',
  semi_negative: 'negative semidefinite',
};

/** One index of `kinds` for each cell, angles from -pi to pi, the first along a row. */
export function definitenessMap(session: Session): Uint8Array {
  const cells = new Uint8Array(SIDE * SIDE);
  const goals = session.userGoals();
  if (session.model.nv !== 2 || goals.length === 0) {
    return cells;
  }
  const objective = new Objective(session.model, goals);
  try {
    for (let j = 0; j < SIDE; j++) {
      for (let i = 0; i < SIDE; i++) {
        objective.evaluate([angle(i), angle(j)], 'hessian');
        cells[j * SIDE + i] = kinds.indexOf(objective.definiteness());
      }
    }
  } finally {
    objective.dispose();
  }
  return cells;
}

const angle = (cell: number): number => -Math.PI + ((cell + 0.5) / SIDE) * 2 * Math.PI;

/** Cells from the lower left, for an angle. */
export function cellOf(q: number): number {
  const turned = ((((q + Math.PI) % (2 * Math.PI)) + 2 * Math.PI) % (2 * Math.PI)) / (2 * Math.PI);
  return turned * SIDE;
}
