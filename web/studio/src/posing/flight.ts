/** A skeleton whose root is free goes to a goal as a whole, where nothing holds it: its limbs have no reason to bend. */
import type { Vec3 } from 'poise-ik';
import type { Session } from '../session.js';
import { distance } from '../spatial.js';

const FAR = 0.02; // of the size: shorter ways are not worth a word
const MOST = 0.5; // of the goal's way, by the root

export interface Flight {
  root: number;
  from: Vec3;
  /** Of the goals, before the drag. */
  points: Vec3[];
}

const pointsOf = ({ kinematics, targets }: Session): Vec3[] => targets.map(({ body, local }) => kinematics.point(body, local.position));

/** Where all is before a drag; null: nothing can fly. */
export function beginFlight(session: Session): Flight | null {
  const { model, locked, active, duration, kinematics } = session;
  const root = model.joints.find(({ parent, nv }) => parent < 0 && nv === 6)?.index ?? -1;
  const isHeld = root < 0 || locked.has(root) || duration > 0 || active.length > 1 || model.nv <= 6;
  return isHeld ? null : { root, from: kinematics.bodyPose(root).position, points: pointsOf(session) };
}

/** What to say of it after the drag of a goal; '' where the limbs did their part. */
export function flightWords(session: Session, { root, from, points }: Flight, goal: number): string {
  session.update();
  const [own, all] = [distance(session.kinematics.bodyPose(root).position, from), distance(pointsOf(session)[goal]!, points[goal]!)];
  const { body, name } = session.model.joints[root]!;
  return all > FAR * session.size() && own > MOST * all ? `${body} is free, and the whole skeleton moved along. Lock ${name} in the panel, or pin a foot (P), and the limbs do the work.` : '';
}
