/** The side panel: goals, method, posture, view, joints. Made anew when something changes, except under a pointer that is down and a number that is written. */
import { type Joint, type Method, methods, type Up } from 'poise-ik';
import type { App } from './app.js';
import type { Look } from './body/looks.js';
import type { Collisions } from './collisions.js';
import { button, choice, element, section, toggle } from './dom.js';
import { GoalRange } from './goal_range.js';
import { JointsSection } from './joints_section.js';
import { gapsOf } from './marker_gaps.js';
import { kindsFor, left, type SaveKind } from './saving.js';
import type { Session } from './session.js';
import { counted, length } from './status.js';
import { goalName, type Target } from './targets.js';
import { verdictSection } from './verdict_section.js';

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
  newton: 'Newton, projected',
  conjugate_gradient: 'Conjugate gradients',
};

export const nameOfMethod = (method: Method): string => methodNames[method];

const saveLabels: Partial<Record<SaveKind, string>> = {
  csv: 'Save joint values, frame by frame, as CSV',
  dh: 'Save the skeleton as a Denavit-Hartenberg table',
  asf: 'Save the skeleton as ASF',
  amc: 'Save the motion as AMC, for the skeleton in an ASF',
  mot: 'Save the motion as MOT',
};

/** What a control is called: the same before and after the panel is made anew. */
function keyOf(control: Element | null): string {
  const label = control?.getAttribute('aria-label') ?? control?.closest('label')?.textContent ?? control?.textContent ?? '';
  return `${control?.tagName} ${label.replace(/^(Lock|Unlock) /, '')}`;
}

export class Panel {
  readonly root = element('aside', { 'aria-label': 'Settings' });
  readonly joints: JointsSection;
  #range: GoalRange;
  #folded = new Map<string, boolean>();
  #held = false; // a pointer is down: what it drags, or is about to click on, would be lost
  #writes = false; // someone writes a number, which would be lost
  #late = false; // not made anew for these reasons

  constructor(readonly app: App) {
    this.joints = new JointsSection(app);
    this.#range = new GoalRange(app);
    this.root.addEventListener('pointerdown', () => (this.#held = true));
    const release = () => {
      this.#held = false;
      setTimeout(() => this.#catchUp()); // after the click
    };
    addEventListener('pointerup', release, { capture: true });
    addEventListener('pointercancel', release, { capture: true });
    this.root.addEventListener('input', ({ target }) => (this.#writes ||= (target as HTMLInputElement).type === 'number'));
    const written = () => (this.#writes = false);
    this.root.addEventListener('change', written, { capture: true });
    this.root.addEventListener('focusout', () => {
      written();
      this.#catchUp();
    });
  }

  #catchUp(): void {
    if (this.#late) {
      this.refresh();
    }
  }

  refresh(): void {
    this.#late = this.#held || this.#writes;
    if (this.#late) {
      return;
    }
    const focused = this.root.contains(document.activeElement) ? keyOf(document.activeElement) : null;
    const { session } = this.app;
    for (const details of this.root.querySelectorAll('details')) {
      this.#folded.set(details.querySelector('summary')?.textContent ?? '', details.open);
    }
    const scrolled = this.root.scrollTop;
    this.root.replaceChildren(...(session ? this.#sections(session) : [this.#nothing()]));
    this.root.scrollTop = scrolled;
    if (focused) {
      const controls = this.root.querySelectorAll<HTMLElement>('button, input, select, summary');
      const again = Array.from(controls).find((control) => keyOf(control) === focused);
      again?.focus({ preventScroll: true });
      if (again instanceof HTMLInputElement && again.type === 'number') {
        again.select(); // as when it was reached: what is written next takes its place
      }
    }
  }

  #nothing(): HTMLElement {
    return element('p', { className: 'empty alone' }, 'Nothing is on the stage. Pick a scene above, or drop a file into this window: a skeleton, a motion, or a recording of markers.');
  }

  #open(title: string, otherwise: boolean): boolean {
    return this.#folded.get(title) ?? otherwise;
  }

  #sections(session: Session): HTMLElement[] {
    if (!session.hasSkeleton) {
      return [this.#markers(session), this.#view(session), this.#save(session)];
    }
    const { judged } = session;
    const verdict = judged ? [verdictSection(this.app, session, judged, this.#open('Verdict', judged.verdict !== 'good'))] : [];
    const parts = [...this.#choices(session), ...verdict, this.#goals(session), this.#method(session)];
    if (session.stage.markers) {
      parts.push(this.#markers(session));
    }
    parts.push(this.#posture(session), this.#joints(session), this.#view(session), this.#save(session));
    return parts;
  }

  /** Other robots of the folder that was opened, other animations of the file, and what its motion could move. */
  #choices({ stage }: Session): HTMLElement[] {
    const { robots = [], robot = '', motions = [], motion = '', animations = [], animation = 0 } = stage.choices ?? {};
    const { opener } = this.app;
    const tail = (name: string) => name.split('/').slice(1).join('/') || name;
    const lists = [
      robots.length > 1 && choice(robots.every((name) => /\.bvh$/i.test(name)) ? 'Motion' : 'Robot', robots.map((name) => ({ value: name, text: tail(name) })), robot, (name) => void opener.choose({ robot: name, motion })),
      motions.length > 1 && choice('Motion', motions.map((name) => ({ value: name, text: name })), motion, (name) => void opener.choose({ robot, motion: name })),
      animations.length > 1 && choice('Animation', animations.map((name, i) => ({ value: String(i), text: name })), String(animation), (i) => void opener.choose({ robot, motion, animation: Number(i) })),
      opener.follower !== null && element('div', { className: 'row wrap' }, button(`Put this motion on ${opener.follower}`, () => void opener.retarget())),
    ];
    return lists.some(Boolean) ? [section('File', this.#open('File', true), ...lists)] : [];
  }

  // ---- Goals -------------------------------------------------------------------------------------------------------------

  #goals(session: Session): HTMLElement {
    const rows = session.targets.map((target, i) => this.#goal(session, target, i));
    const { app } = this;
    const empty = element('p', { className: 'empty' }, 'No goals yet. Pick a part of the skeleton and say what it should do, or begin with a free end:');
    const joint = session.model.joints[app.selectedJoint];
    return section(
      'Goals',
      this.#open('Goals', true),
      ...(rows.length > 0 ? [element('ul', { className: 'goals' }, ...rows)] : [empty]),
      (joint || rows.length > 0) && element('p', { className: 'hint' }, joint ? `Add for ${joint.body}:` : 'Add one to a free end, or pick a part:'),
      element(
        'div',
        { className: 'row wrap' },
        button('Reach: a point goes to the target (1)', () => app.goals.add('position'), 'Reach'),
        button('Pose: and turns like it (2)', () => app.goals.add('pose'), 'Pose'),
        button('Look at: faces the target (3)', () => app.goals.add('aim'), 'Look at'),
        joint && button(`Pin ${joint.body} where it is (P)`, () => app.goals.add('pin'), 'Pin'),
        joint && joint.nv > 0 && this.#lock(session, joint, session.locked.has(joint.index) ? 'Unlock' : 'Lock'),
      ),
      app.viewport.handles.selected >= 0 && element('p', { className: 'hint' }, 'The selected goal:'),
      app.viewport.handles.selected >= 0 && this.#mode(session),
      app.viewport.handles.selected >= 0 && (session.plays || session.duration === 0) && this.#keyframes(session),
      session.motion && session.plays && rows.length > 0 && this.#range.make(session),
    );
  }

  /** What the arrows of the selected goal do. */
  #mode(session: Session): HTMLElement {
    const { app } = this;
    const { handles } = app.viewport;
    const turns = handles.turns();
    const option = (mode: 'translate' | 'rotate', label: string, text: string) =>
      button(label, () => app.setArrows(mode), text, { 'aria-pressed': app.viewport.handles.mode === mode, className: app.viewport.handles.mode === mode ? 'on' : '' });
    return element(
      'div',
      { className: 'row wrap', role: 'group', 'aria-label': 'Arrows of the selected goal' },
      turns && element('div', { className: 'joined' }, option('translate', 'Move the goal (W)', 'Move'), option('rotate', 'Turn the goal (E)', 'Turn')),
      turns && button("Along the goal's own axes, or the world's (X)", () => app.setArrowsLocal(!handles.isLocal), 'Own axes', { 'aria-pressed': handles.isLocal, className: handles.isLocal ? 'on' : '' }),
      button(`Snap to ${length(handles.step, session.stage.scale.metres)} and 15° (M)`, () => app.setSnap(!handles.snaps), 'Snap', { 'aria-pressed': handles.snaps, className: handles.snaps ? 'on' : '' }),
    );
  }

  /** Where the selected goal is over time. */
  #keyframes(session: Session): HTMLElement {
    const { app } = this;
    const { keys } = session.targets[app.viewport.handles.selected] ?? {};
    const { clip, markers } = session.stage;
    const seconds = element('input', { type: 'number', min: '0.1', step: '0.5', value: String(session.length), 'aria-label': 'Length of the timeline, seconds' });
    seconds.addEventListener('change', () => {
      session.length = Math.max(0.1, Number(seconds.value) || session.length);
      app.commit();
    });
    return element(
      'div',
      { className: 'row wrap', role: 'group', 'aria-label': 'Keyframes of the selected goal' },
      button('Keyframe here (I)', () => app.goals.key(true)),
      keys && button('Remove it (Shift+I)', () => app.goals.key(false), 'Remove'),
      keys && !clip && !markers && element('label', { className: 'length' }, seconds, ' s long'),
      keys && element('p', { className: 'hint' }, 'Move the time, then the goal: it goes from key to key. Drag it while time plays, and the drag is recorded.'),
    );
  }

  #lock(session: Session, joint: Joint, text: string): HTMLButtonElement {
    const locked = session.locked.has(joint.index);
    return button(locked ? `Unlock ${joint.name} (K)` : `Lock ${joint.name}: goals do not move it (K)`, () => this.app.toggleLock(joint.index), text, {
      'aria-pressed': locked,
      className: locked ? 'on' : '',
    });
  }

  #goal(session: Session, target: Target, index: number): HTMLElement {
    const { app } = this;
    const name = session.model.joints[target.body]?.body ?? '';
    const weight = element('input', { type: 'range', min: '-2', max: '2', step: '0.1', value: String(Math.log10(Math.max(target.weight, 1e-9))), 'aria-label': `Weight of the goal of ${name}`, title: 'How much this goal counts beside the others' });
    const shown = element('output', {}, String(+target.weight.toPrecision(2)));
    weight.addEventListener('input', () => {
      target.weight = 10 ** Number(weight.value);
      shown.textContent = String(+target.weight.toPrecision(2));
      session.changed();
      app.refresh();
    });
    weight.addEventListener('change', () => app.commit());
    const on = toggle('', target.enabled, (enabled) => {
      target.enabled = enabled;
      session.changed();
      app.viewport.handles.rebuild();
      app.commit();
    });
    on.querySelector('input')?.setAttribute('aria-label', `Use the goal of ${name}`);
    const chosen = app.viewport.handles.selected === index;
    return element(
      'li',
      { className: chosen ? 'chosen' : '' },
      on,
      button(`Select the goal of ${name}`, () => app.selectTarget(index), goalName(session.model, target), { className: 'name' }),
      button(`Remove the goal of ${name} (Delete)`, () => app.goals.remove(index), '×'),
      element('div', { className: 'weight' }, element('span', { 'aria-hidden': true }, 'weight'), weight, shown),
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
      element('div', { className: 'row wrap' }, button('Race all methods (R)', () => app.drawer.race(), 'Race methods'), app.answers.isThere(session) && app.answers.make(session)),
    );
  }

  #markers(session: Session): HTMLElement {
    const { app } = this;
    const { markers, placements } = session.stage;
    const count = `${counted(markers?.count ?? 0, 'marker')}, ${counted(markers?.frames ?? 0, 'frame')}`;
    const lonely = `${count}. There is no skeleton to follow them: drop one together with the recording, as poise JSON with places of the markers.`;
    return section(
      'Markers',
      this.#open('Markers', true),
      element('p', { className: 'hint' }, placements.length > 0 ? `${count}, ${placements.length} placed on the skeleton` : lonely),
      placements.length > 0 &&
        element('p', { className: 'hint' }, !session.tracked ? 'Not tracked as a whole yet.' : session.followMarkers ? 'Followed frame by frame as it plays; the motion that was tracked rests.' : 'All frames are tracked: the motion that was found plays.'),
      placements.length > 0 &&
        toggle(session.tracked ? 'Follow them frame by frame instead' : 'Follow them', session.followMarkers, (on) => {
          session.followMarkers = on;
          session.changed();
          app.commit();
        }),
      placements.length > 0 &&
        toggle('Lines to their places', app.viewport.markers.showsMisses, (on) => {
          app.viewport.markers.showsMisses = on;
          app.viewport.place();
        }),
      session.plays &&
        toggle('Trails of the last moments', app.viewport.markers.showsTrails, (on) => {
          app.viewport.markers.showsTrails = on;
          app.viewport.place();
        }),
      placements.length > 0 && element('div', { className: 'row' }, button('Track the whole recording (T)', () => void app.track(), session.tracked ? 'Track once more' : 'Track all frames')),
      this.#markerList(session),
    );
  }

  /** Every marker by name; a click shows it in the view, and its gaps on the timeline. */
  #markerList(session: Session): HTMLElement {
    const { app } = this;
    const { labels, picked } = app.viewport.markers;
    const gaps = gapsOf(session.stage.markers!, labels);
    const rows = labels.map((label, i) =>
      element(
        'li',
        { className: label === picked ? 'chosen' : '' },
        button(`Show the marker ${label}`, () => app.pickMarker(label), label, { className: 'plain name', 'aria-pressed': label === picked }),
        element('span', { className: 'hint' }, gaps[i]! > 0 ? `${gaps[i]! >= 0.01 ? Math.round(100 * gaps[i]!) : '< 1'} % missing` : ''),
      ),
    );
    return element('ul', { className: 'markers', 'aria-label': 'Markers by name' }, ...rows);
  }

  // ---- Posture and view ----------------------------------------------------------------------------------------------------

  #posture(session: Session): HTMLElement {
    const { app } = this;
    const take = (q: ArrayLike<number>) => {
      app.poseByHand(() => session.pose((own) => own.set(Array.from(q))));
      app.commit();
    };
    return section(
      'Posture',
      this.#open('Posture', session.stage.postures.length > 0),
      element(
        'div',
        { className: 'row wrap' },
        ...session.stage.postures.map((posture) => button(`Take the posture ${posture.name}`, () => take(posture.q), posture.name)),
        button('All joints at zero, or as near as limits allow', () => take(session.model.neutral()), 'Neutral'),
        button('Keep the present pose as the posture', () => take(session.q), 'Keep this'),
      ),
    );
  }

  #view(session: Session): HTMLElement {
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
      app.viewport.hasBody &&
        choice(
          'Body',
          [
            { value: 'solid', text: 'Solid' },
            { value: 'xray', text: 'See-through, with bones' },
            { value: 'bones', text: 'Bones only' },
          ],
          app.viewport.look,
          (value) => app.setLook(value as Look),
        ),
      (session.collisions || session.coverMeshes) && this.#collisions(session, session.collisions),
      choice('Upwards', ['y', 'z'].map((axis) => ({ value: axis, text: axis })), session.stage.scale.up === 'y' ? 'y' : 'z', (value) => {
        session.setUp(value as Up);
        app.home();
      }),
      session.hasSkeleton && toggle('Coordinate frames (Q)', app.viewport.showsFrames, (on) => app.setFrames(on)),
      toggle('Without perspective (V)', app.viewport.eye.isFlat, (on) => app.setFlat(on)),
      session.model.nv > 0 &&
        element(
          'div',
          { className: 'row wrap' },
          button('Where the tip of the selected goal, or the picked part, can get (B)', () => app.reach.toggle(), 'Reach', { 'aria-pressed': app.reach.isShown, className: app.reach.isShown ? 'on' : '' }),
          button('Measure between two points (U)', () => app.measure.toggle(), 'Measure', { 'aria-pressed': app.measure.isOn, className: app.measure.isOn ? 'on' : '' }),
        ),
      element('div', { className: 'row' }, button('Show everything (H)', () => app.home(), 'Whole view'), button('Look at the selected goal, or the picked part (F)', () => app.focus(), 'Focus')),
    );
  }

  /** Collision shapes: drawn, with a margin, and kept apart. Meshes become shapes when they are first asked for. */
  #collisions(session: Session, collisions: Collisions | null): HTMLElement {
    const { app } = this;
    const withShapes = async (act: (found: Collisions) => void): Promise<void> => {
      if ((await app.opener.coverMeshes(session)) && session.collisions) {
        act(session.collisions);
      }
      app.refresh();
    };
    const metres = session.stage.scale.metres;
    const unit = metres > 0 ? 1000 * metres : 1; // shown in millimetres
    const margin = element('input', { type: 'number', min: '0', step: '5', value: String(+(unit * (collisions?.margin ?? 0)).toPrecision(4)), 'aria-label': 'Margin around shapes' });
    margin.addEventListener('change', () => {
      session.changed();
      collisions?.setMargin(Number(margin.value) / unit || 0);
      app.viewport.showShapes(app.viewport.showsShapes);
      app.commit();
    });
    return element(
      'div',
      { role: 'group', 'aria-label': 'Collisions', className: 'stack' },
      toggle('Collision shapes', app.viewport.showsShapes, (on) => void withShapes(() => app.viewport.showShapes(on))),
      toggle('Keep them apart', collisions?.keeps ?? false, (on) => {
        void withShapes((found) => {
          found.keeps = on;
          session.changed();
          app.commit();
        });
      }),
      session.coverMeshes && element('p', { className: 'hint' }, 'Meshes are covered with capsules and boxes first, which takes some seconds.'),
      collisions && element('label', { className: 'length' }, 'Margin ', margin, metres > 0 ? ' mm' : ''),
    );
  }

  #joints(session: Session): HTMLElement {
    const lock = (joint: Joint) => this.#lock(session, joint, session.locked.has(joint.index) ? 'Locked' : 'Lock');
    return this.joints.make(session, this.#open('Joints', false), lock);
  }

  #save(session: Session): HTMLElement {
    const { app } = this;
    const { kinds, others } = kindsFor(session);
    return section(
      'Save as',
      this.#open('Save as', false),
      session.plays && session.hasSkeleton && element('p', { className: 'hint' }, 'The motion as it plays. Goals that act on it are baked into it first.'),
      kinds.length > 0 && left(session, kinds) !== '' && element('p', { className: 'hint' }, left(session, kinds)),
      element('div', { className: 'row wrap' }, ...kinds.map((kind) => button(saveLabels[kind] ?? `Save as ${kind.toUpperCase()}`, () => void app.takeAlong.export(kind), kind.toUpperCase()))),
      ...others.map(({ names, why }) => element('p', { className: 'hint' }, `Not as ${names}: ${why}.`)),
    );
  }
}
