/** Joints as sliders and numbers, with their limits. Moving one poses the skeleton by hand; all follow drags and playback. */
import type { Joint } from 'poise-ik';
import type { App } from './app.js';
import { button, choice, element, section } from './dom.js';
import { coordinateNames } from './saving.js';
import type { Session } from './session.js';

const DEGREES = 180 / Math.PI;
const WIDE = 8; // half turns, or sizes of the skeleton: limits beyond are none to a slider
const MANY = 60; // joints; of larger skeletons sliders of the picked joint only

/** One number that the user can change: a coordinate, or part of the rotation vector that stands for a quaternion. */
interface Dial {
  name: string;
  label: string;
  unit: 'length' | 'angle' | 'none';
  lower: number;
  upper: number;
  get(): number;
  set(value: number): void;
}

/** A dial on the page; `open` is how far its slider goes where no limit ends it. */
interface Row {
  dial: Dial;
  open: number;
  slider: HTMLInputElement;
  number: HTMLInputElement;
}

/** From where to where a slider goes: between the limits, and where there are none so far that its value lies within. */
function rangeOf({ lower, upper }: Dial, open: number, value: number): [number, number] {
  const isLimit = (x: number) => Math.abs(x) <= WIDE * open;
  const low = isLimit(lower) ? lower : Math.min(-open, value, isLimit(upper) ? upper - 2 * open : 0);
  return [low, isLimit(upper) ? upper : Math.max(open, value, isLimit(lower) ? lower + 2 * open : 0)];
}

/** The rotation of a quaternion as a vector: what leads from the neutral pose to it. */
function turnDial(session: Session, joint: Joint, axis: number): Dial {
  const { model } = session;
  const at = joint.v + joint.nv - 3 + axis;
  const way = () => model.difference(model.neutral(), session.q);
  const set = (value: number) =>
    session.pose((q) => {
      const step = way();
      step[at] = value;
      q.set(model.retract(model.neutral(), step));
    });
  const label = `turn ${'XYZ'[axis]}`;
  return { name: `${joint.name}, ${label}`, label, unit: 'angle', lower: -Infinity, upper: Infinity, get: () => way()[at]!, set };
}

function plainDial(session: Session, joint: Joint, place: number): Dial {
  const { model } = session;
  const at = joint.q + place;
  const { label, unit } = model.coordinates[at]!;
  const name = label ? `${joint.name}, ${label}` : joint.name;
  return { name, label, unit, lower: model.lower[at]!, upper: model.upper[at]!, get: () => session.q[at]!, set: (value) => session.pose((q) => (q[at] = value), joint.index) };
}

function dialsOf(session: Session, joint: Joint): Dial[] {
  const isQuaternion = (place: number) => /^q[xyzw]$/.test(session.model.coordinates[joint.q + place]!.name);
  const plain = Array.from({ length: joint.nq }, (_, place) => place).filter((place) => !isQuaternion(place));
  const turns = plain.length < joint.nq ? [0, 1, 2] : [];
  return [...plain.map((place) => plainDial(session, joint, place)), ...turns.map((axis) => turnDial(session, joint, axis))];
}

/** What a dial reads: degrees, or the length unit of the file. */
const shown = ({ unit }: Dial, value: number): string => (unit === 'angle' ? DEGREES * value : value).toFixed(unit === 'angle' ? 1 : 3);

/** q for other programs, in radians and length units. */
const forms = {
  list: (_: string[], q: number[]) => `[${q.join(', ')}]`,
  JSON: (names: string[], q: number[]) => JSON.stringify(Object.fromEntries(names.map((name, i) => [name, q[i]])), null, 2),
  YAML: (names: string[], q: number[]) => names.map((name, i) => `${/^[\w.-]+$/.test(name) ? name : JSON.stringify(name)}: ${q[i]}`).join('\n'),
} as const;

export class JointsSection {
  #rows: Row[] = [];

  constructor(readonly app: App) {}

  make(session: Session, open: boolean, lock: (joint: Joint) => HTMLElement): HTMLElement {
    const { app } = this;
    this.#rows = [];
    const moving = session.model.joints.filter((joint) => joint.nq > 0);
    const some = moving.filter((joint) => moving.length <= MANY || joint.index === app.selectedJoint);
    const list = [{ value: '-1', text: 'none' }, ...moving.map((joint) => ({ value: String(joint.index), text: joint.name }))];
    const copies = Object.keys(forms) as (keyof typeof forms)[];
    return section(
      'Joints',
      open,
      moving.length === 0 && element('p', { className: 'empty' }, 'This skeleton has no joint that moves.'),
      moving.length > MANY && choice('Picked joint', list, String(app.selectedJoint), (value) => app.selectJoint(Number(value))),
      ...some.map((joint) => this.#joint(session, joint, lock)),
      moving.length > 0 &&
        element(
          'div',
          { className: 'row' },
          element('span', { className: 'hint' }, 'Copy all:'),
          ...copies.map((form) => button(`Copy all joint values as ${form}, in radians`, () => void this.#copy(session, form), form)),
        ),
    );
  }

  #joint(session: Session, joint: Joint, lock: (joint: Joint) => HTMLElement): HTMLElement {
    const { app } = this;
    return element(
      'div',
      { className: app.selectedJoint === joint.index ? 'joint chosen' : 'joint' },
      element(
        'div',
        { className: 'row' },
        button(`Pick ${joint.name}`, () => app.selectJoint(joint.index), joint.name, { className: 'name' }),
        joint.nv > 0 && lock(joint),
      ),
      ...dialsOf(session, joint).map((dial) => this.#dial(session, joint, dial)),
    );
  }

  #dial(session: Session, joint: Joint, dial: Dial): HTMLElement {
    const open = dial.unit === 'length' ? session.size() : Math.PI;
    const slider = element('input', { type: 'range', step: 'any', 'aria-label': dial.name });
    const number = element('input', { type: 'number', step: 'any', 'aria-label': `${dial.name}, value` });
    const set = (value: number) => {
      this.app.poseByHand(() => dial.set(value));
      if (this.app.selectedJoint !== joint.index) {
        this.app.selectJoint(joint.index); // what is moved is picked: goals, keys and limits are for it
      }
      this.follow();
    };
    slider.addEventListener('input', () => set(Number(slider.value)));
    slider.addEventListener('change', () => this.app.commit());
    number.addEventListener('change', () => {
      const asked = number.value;
      if (asked !== '' && Number.isFinite(Number(asked))) {
        set(Number(asked) / (dial.unit === 'angle' ? DEGREES : 1));
        this.app.commit();
        this.#tellOfLimits(session, dial, asked);
      }
      number.value = shown(dial, dial.get()); // also where nothing was written
    });
    const row = { dial, open, slider, number };
    this.#rows.push(row);
    this.#show(row);
    const end = (value: number) => element('span', {}, Number.isFinite(value) ? shown(dial, value) : 'free');
    return element(
      'div',
      { className: 'dial' },
      dial.label && element('span', { className: 'axis' }, dial.label),
      element('div', { className: 'track' }, slider, element('div', { className: 'ends', 'aria-hidden': true }, end(dial.lower), end(dial.upper))),
      number,
      element('span', { className: 'unit' }, dial.unit === 'angle' ? '°' : dial.unit === 'length' && session.stage.scale.metres === 1 ? 'm' : ''),
    );
  }

  /** Where limits, or loops of the skeleton, did not let a dial go where it was asked to. */
  #tellOfLimits(session: Session, dial: Dial, asked: string): void {
    const [is, unit] = [shown(dial, dial.get()), dial.unit === 'angle' ? '°' : ''];
    if (Math.abs(Number(asked) - Number(is)) > (dial.unit === 'angle' ? 0.06 : 6e-4)) { // it is shown rounded
      const value = Number(asked) / (dial.unit === 'angle' ? DEGREES : 1);
      if (session.loops && value >= dial.lower && value <= dial.upper) {
        this.app.notify(`${dial.name}: the closed loops of this skeleton keep it at ${is}${unit}, and not at ${asked}${unit}.`, true);
        return;
      }
      const ends = [dial.lower, dial.upper].every(Number.isFinite) ? ` It goes from ${shown(dial, dial.lower)} to ${shown(dial, dial.upper)}${unit}.` : '';
      this.app.notify(`${dial.name}: ${asked}${unit} is beyond its limits, it stands at ${is}${unit}.${ends}`, true);
    }
  }

  /** A number in which someone writes stays as it is. */
  #show({ dial, open, slider, number }: Row): void {
    const value = dial.get();
    const [low, high] = rangeOf(dial, open, value);
    slider.min = String(low);
    slider.max = String(high);
    slider.value = String(value);
    if (document.activeElement !== number) {
      number.value = shown(dial, value);
    }
  }

  /** The pose has changed. */
  follow(): void {
    if (this.#rows[0]?.slider.checkVisibility()) {
      this.#rows.forEach((row) => this.#show(row));
    }
  }

  async #copy(session: Session, form: keyof typeof forms): Promise<void> {
    const text = forms[form](coordinateNames(session.model), Array.from(session.q));
    try {
      await navigator.clipboard.writeText(text);
      this.app.notify(`${session.q.length} joint values are in the clipboard, as ${form}.`, true);
    } catch {
      this.app.notify(text); // to be copied by hand
    }
  }
}
