/** The side panel: goals, method, posture, view, joints. Made anew when something changes; sliders live on while dragged. */
import { type Joint, type Method, methods } from 'poise-ik';
import type { App } from './app.js';
import { button, choice, element, section, toggle } from './dom.js';
import type { Session, Target } from './session.js';

const methodNames: Record<Method, string> = {
  auto: 'Auto (exact Newton)',
  gradient_descent: 'Gradient descent',
  jacobian_transpose: 'Jacobian transpose',
  pseudo_inverse: 'Pseudo-inverse',
  damped_least_squares: 'Damped least squares',
  selectively_damped: 'Selectively damped',
  priority: 'Priority levels',
  ccd: 'CCD',
  bwcd: 'BWCD',
  fabrik: 'FABRIK',
  levenberg_marquardt: 'Levenberg-Marquardt',
  bfgs: 'BFGS',
  lbfgs: 'L-BFGS',
  trust_region: 'Trust region',
  newton_projected: 'Newton, projected',
};

export const nameOfMethod = (method: Method): string => methodNames[method];

const DEGREES = 180 / Math.PI;
const kindNames = { position: 'Reach', pose: 'Pose', aim: 'Look at' } as const;

/** Is coordinate i of a joint a length? */
function isLength(joint: Joint, i: number): boolean {
  return joint.type === 'prismatic' || joint.type === 'translation' || (joint.type === 'planar' && i < 2) || (joint.type.startsWith('free') && i < 3);
}

export class Panel {
  readonly root = element('aside', { 'aria-label': 'Settings' });
  #folded = new Map<string, boolean>();

  constructor(readonly app: App) {}

  refresh(): void {
    if (this.root.contains(document.activeElement) && (document.activeElement as HTMLInputElement).type === 'range') {
      return; // a slider that is being dragged would be lost
    }
    const focused = (document.activeElement as HTMLElement | null)?.dataset['key'];
    const { session } = this.app;
    for (const details of this.root.querySelectorAll('details')) {
      this.#folded.set(details.querySelector('summary')?.textContent ?? '', details.open);
    }
    this.root.replaceChildren(...(session ? this.#sections(session) : []));
    if (focused) {
      this.root.querySelector<HTMLElement>(`[data-key="${CSS.escape(focused)}"]`)?.focus();
    }
  }

  #open(title: string, otherwise: boolean): boolean {
    return this.#folded.get(title) ?? otherwise;
  }

  #sections(session: Session): HTMLElement[] {
    const parts = [this.#goals(session), this.#method(session)];
    if (session.stage.markers) {
      parts.push(this.#markers(session));
    }
    parts.push(this.#posture(session), this.#view(), this.#joints(session), this.#save());
    return parts;
  }

  // ---- Goals -------------------------------------------------------------------------------------------------------------

  #goals(session: Session): HTMLElement {
    const rows = session.targets.map((target, i) => this.#goal(session, target, i));
    const empty = element('p', { className: 'empty' }, 'No goals yet. Pick a part of the skeleton, then say what it should do.');
    const picked = this.app.selectedJoint >= 0 ? session.model.joints[this.app.selectedJoint]?.body : null;
    return section(
      'Goals',
      this.#open('Goals', true),
      ...(rows.length > 0 ? [element('ul', { className: 'goals' }, ...rows)] : [empty]),
      element(
        'div',
        { className: 'row' },
        element('span', { className: 'hint' }, picked ? `${picked}:` : 'Add:'),
        button('Reach: a point goes to the target (1)', () => this.app.addGoal('position'), 'Reach'),
        button('Pose: and turns like it (2)', () => this.app.addGoal('pose'), 'Pose'),
        button('Look at: faces the target (3)', () => this.app.addGoal('aim'), 'Look at'),
      ),
    );
  }

  #goal(session: Session, target: Target, index: number): HTMLElement {
    const { app } = this;
    const name = session.model.joints[target.body]?.body ?? '';
    const weight = element('input', { type: 'range', min: '-2', max: '2', step: '0.1', value: String(Math.log10(target.weight)), 'aria-label': `Weight of ${name}`, title: 'Weight' });
    weight.addEventListener('input', () => {
      target.weight = 10 ** Number(weight.value);
      session.changed();
      app.refresh();
    });
    weight.addEventListener('change', () => {
      weight.blur();
      app.commit();
    });
    const on = toggle('', target.enabled, (enabled) => {
      target.enabled = enabled;
      session.changed();
      app.viewport.rebuildTargets();
      app.commit();
    });
    on.querySelector('input')?.setAttribute('aria-label', `Use the goal of ${name}`);
    const chosen = app.viewport.selectedTarget === index;
    return element(
      'li',
      { className: chosen ? 'chosen' : '' },
      on,
      button(`Select the goal of ${name}`, () => app.selectTarget(index), `${kindNames[target.kind]} ${name}`, { className: 'name', 'data-key': `goal-${index}` }),
      weight,
      button(`Remove the goal of ${name} (Delete)`, () => app.removeGoal(index), '×'),
    );
  }

  // ---- Method ------------------------------------------------------------------------------------------------------------

  #method(session: Session): HTMLElement {
    const { app } = this;
    const list = methods.map((method) => ({ value: method as string, text: methodNames[method] }));
    return section(
      'Method',
      this.#open('Method', true),
      choice('Solver', list, session.method, (value) => app.setMethod(value as Method)),
      choice(
        'Between goals and posture',
        [
          { value: 'reach', text: 'Meet the goals' },
          { value: 'express', text: 'Keep the shape of the posture' },
        ],
        session.mode,
        (value) => {
          session.mode = value === 'express' ? 'express' : 'reach';
          session.changed();
          app.commit();
        },
      ),
      element('div', { className: 'row' }, button('Race all methods (R)', () => app.drawer.race(), 'Race methods')),
    );
  }

  #markers(session: Session): HTMLElement {
    const { app } = this;
    const { markers, placements } = session.stage;
    return section(
      'Markers',
      this.#open('Markers', true),
      element('p', { className: 'hint' }, `${markers?.count ?? 0} markers, ${markers?.frames ?? 0} frames, ${placements.length} placed on the skeleton`),
      placements.length > 0 &&
        toggle('Follow them', session.followMarkers, (on) => {
          session.followMarkers = on;
          session.changed();
          app.commit();
        }),
      placements.length > 0 && element('div', { className: 'row' }, button('Track the whole recording (T)', () => app.track(), 'Track all frames')),
    );
  }

  // ---- Posture and view ----------------------------------------------------------------------------------------------------

  #posture(session: Session): HTMLElement {
    const { app } = this;
    const take = (q: ArrayLike<number>) => {
      session.q.set(Array.from(q));
      session.model.clamp(session.q);
      session.posture.set(session.q);
      app.commit();
    };
    return section(
      'Posture',
      this.#open('Posture', session.stage.postures.length > 0),
      element(
        'div',
        { className: 'row wrap' },
        ...session.stage.postures.map((posture) => button(`Take the posture ${posture.name}`, () => take(posture.q), posture.name)),
        button('All joints at zero, or as near as limits allow', () => take(session.model.neutral()), 'neutral'),
        button('Keep the present pose as the posture', () => take(session.q), 'keep this'),
      ),
    );
  }

  #view(): HTMLElement {
    const { app } = this;
    return section(
      'View',
      this.#open('View', false),
      choice(
        'Limits',
        [
          { value: 'picked', text: 'Of the picked joint' },
          { value: 'all', text: 'Of all joints' },
          { value: 'none', text: 'Hidden' },
        ],
        app.viewport.showLimits,
        (value) => {
          app.viewport.showLimits = value as 'none' | 'picked' | 'all';
          app.refresh();
        },
      ),
      element('div', { className: 'row' }, button('Show everything (H)', () => app.home(), 'Whole view')),
    );
  }

  #save(): HTMLElement {
    const kinds = ['json', 'bvh', 'mot', 'glb', 'c3d'] as const;
    return section(
      'Save as',
      this.#open('Save as', false),
      element('div', { className: 'row wrap' }, ...kinds.map((kind) => button(`Save as ${kind.toUpperCase()}`, () => this.app.export(kind), kind.toUpperCase()))),
    );
  }

  // ---- Joints ------------------------------------------------------------------------------------------------------------

  #joints(session: Session): HTMLElement {
    const most = 60; // sliders of larger skeletons: of the picked joint only
    const { joints } = session.model;
    const shown = joints.filter((joint) => joint.nq > 0 && (joints.length <= most || joint.index === this.app.selectedJoint));
    const rows = shown.map((joint) => this.#joint(session, joint));
    const text = joints.length > most ? 'Pick a joint to see its values.' : 'This skeleton has no joint that moves.';
    return section('Joints', this.#open('Joints', false), ...(rows.length > 0 ? rows : [element('p', { className: 'empty' }, text)]));
  }

  #joint(session: Session, joint: Joint): HTMLElement {
    const { app } = this;
    const locked = session.locked.has(joint.index);
    const sliders = Array.from({ length: joint.nq }, (_, i) => this.#slider(session, joint, i, locked));
    return element(
      'div',
      { className: app.selectedJoint === joint.index ? 'joint chosen' : 'joint' },
      element(
        'div',
        { className: 'row' },
        button(`Pick ${joint.name}`, () => app.selectJoint(joint.index), joint.name, { className: 'name', 'data-key': `joint-${joint.index}` }),
        button(locked ? `Unlock ${joint.name}` : `Lock ${joint.name}: goals do not move it`, () => app.toggleLock(joint.index), locked ? '🔒' : '🔓', {
          'aria-pressed': locked,
          'data-key': `lock-${joint.index}`,
        }),
      ),
      ...sliders,
    );
  }

  #slider(session: Session, joint: Joint, i: number, locked: boolean): HTMLElement {
    const at = joint.q + i;
    const length = isLength(joint, i);
    const unit = length ? 1 : DEGREES;
    const open = length ? session.size() : Math.PI;
    const low = Math.max(session.model.lower[at]!, -open);
    const high = Math.min(session.model.upper[at]!, open);
    const value = element('output', {}, (session.q[at]! * unit).toFixed(length ? 3 : 1));
    const slider = element('input', {
      type: 'range',
      min: String(low),
      max: String(high),
      step: 'any',
      value: String(session.q[at]),
      disabled: locked,
      'aria-label': joint.nq > 1 ? `${joint.name}, number ${i + 1}` : joint.name,
    });
    slider.addEventListener('input', () => {
      session.q[at] = Number(slider.value);
      session.model.clamp(session.q);
      session.posture.set(session.q);
      value.textContent = (session.q[at]! * unit).toFixed(length ? 3 : 1);
      this.app.refresh();
    });
    slider.addEventListener('change', () => {
      slider.blur();
      this.app.commit();
    });
    return element('div', { className: 'slider' }, slider, value);
  }
}
