/** Three short guided tours: each step says what to do, and goes on when it is done. */
import type { App } from './app.js';
import { button, element } from './dom.js';

interface Step {
  say: string;
  /** Is it done? Asked several times a second; without it, a click goes on. */
  done?: (app: App, start: Start) => boolean;
}

/** How things were when a step began. */
interface Start {
  q: number[];
  places: string;
  time: number;
}

interface Tour {
  id: string;
  title: string;
  about: string;
  scene: string;
  steps: readonly Step[];
}

const ASK = 200; // milliseconds between two looks
const MOVED = 0.2; // radians that a joint has to go to count as moved

const startOf = ({ session }: App): Start => ({ q: Array.from(session?.q ?? []), places: JSON.stringify(session?.targets.map(({ position, rotation }) => [position, rotation])), time: session?.time ?? 0 });
const hasMoved = ({ session }: App, { q }: Start): boolean => !!session && session.q.some((x, i) => Math.abs(x - (q[i] ?? x)) > MOVED);
const goalMoved = (app: App, { places }: Start): boolean => startOf(app).places !== places;

export const tours: readonly Tour[] = [
  {
    id: 'arm',
    title: 'Drag an arm',
    about: 'goals, reach, a race of methods',
    scene: 'arm7',
    steps: [
      { say: 'Drag the bright cube at the hand. The arm follows: the solver runs in every frame.', done: (app, start) => goalMoved(app, start) && hasMoved(app, start) },
      { say: 'Now drag the arm itself, by its elbow: the hand stays in its pose, the elbow is free to move.', done: (app, start) => hasMoved(app, start) && !goalMoved(app, start) },
      { say: 'Turn the hand: press E, then drag one of the rings. W moves it again.', done: (app, start) => app.viewport.handles.mode === 'rotate' && goalMoved(app, start) },
      { say: 'Press B for all places that the hand can get to.', done: (app) => app.reach.isShown },
      { say: 'Press R: every method races from the same start to this goal. Click a curve to see its pose.', done: () => !!document.querySelector('.legend tbody tr') },
    ],
  },
  {
    id: 'recording',
    title: 'Fit a recording',
    about: 'markers, errors, a motion to save',
    scene: 'humanoid/kick',
    steps: [
      { say: '41 markers of a recorded kick move this dancer, frame by frame. Press space to stop it.', done: (app) => !app.playing },
      { say: 'Drag the time below, or step through frames with , and .', done: (app, { time }) => Math.abs((app.session?.time ?? time) - time) > 0.05 },
      { say: 'Press T to track the whole recording: it is judged, and the error of each marker is drawn over time.', done: (app) => !!app.session?.tracked },
      { say: 'Now pull a hand somewhere else: the goal it gets is part of the motion from here on.', done: (app) => (app.session?.targets.length ?? 0) > 0 },
      { say: 'Save (top right) writes the motion, goals applied, as BVH, GLB, C3D and more. Your own recordings: drop a C3D or TRC file into the window.' },
    ],
  },
  {
    id: 'character',
    title: 'Pose a character',
    about: 'pins, looks, keyframes',
    scene: 'humanoid',
    steps: [
      { say: 'Click on a foot of the dancer, then press P: it is pinned where it is.', done: (app) => app.session?.targets.some(({ kind }) => kind === 'pin') ?? false },
      { say: 'Drag a hand. The whole body helps, and the foot stays.', done: hasMoved },
      { say: 'Click on the head and press 3: it looks at the target. Drag the target.', done: (app) => app.session?.targets.some(({ kind }) => kind === 'aim') ?? false },
      { say: 'Press I for a keyframe, move the time, drag a goal: the pose goes from key to key.', done: (app) => app.session?.targets.some(({ keys }) => keys) ?? false },
      { say: 'Drop a GLB of a character of your own into the window: its skin follows its bones, and you pose it in the same way.' },
    ],
  },
];

export class TourGuide {
  readonly root = element('section', { className: 'tour', hidden: true, 'aria-label': 'Guided tour' });
  #tour: Tour | null = null;
  #at = 0;
  #start: Start | null = null;
  #timer = 0;

  constructor(readonly app: App) {}

  begin(id: string): void {
    const tour = tours.find((one) => one.id === id);
    if (tour) {
      this.app.opener.visit(tour.scene);
      this.app.notify('', true);
      this.#tour = tour;
      this.#go(0);
      clearInterval(this.#timer);
      this.#timer = window.setInterval(() => this.#look(), ASK);
    }
  }

  end(): void {
    clearInterval(this.#timer);
    this.#tour = null;
    this.root.hidden = true;
    this.app.viewport.canvas.focus();
  }

  /** Which step is shown; -1: no tour. */
  get step(): number {
    return this.#tour ? this.#at : -1;
  }

  #go(at: number): void {
    const tour = this.#tour!;
    if (at >= tour.steps.length) {
      this.end();
      this.app.notify('That was the tour. ? lists all keys; Gallery has more scenes, and more tours.', true);
      return;
    }
    this.#at = at;
    this.#start = startOf(this.app);
    const isLast = at === tour.steps.length - 1;
    this.root.hidden = false;
    this.root.replaceChildren(
      element('p', { className: 'hint' }, `${tour.title} · ${at + 1} of ${tour.steps.length}`),
      element('p', { role: 'status' }, tour.steps[at]!.say),
      element('div', { className: 'row' }, button(isLast ? 'Done' : 'Next', () => this.#go(at + 1)), !isLast && button('End the tour', () => this.end(), 'End')),
    );
  }

  #look(): void {
    const { app } = this;
    if (!this.#tour || app.scene !== this.#tour.scene) {
      this.end(); // something else was opened
    } else if (!app.viewport.handles.gizmo.dragging && this.#start && this.#tour.steps[this.#at]!.done?.(app, this.#start)) {
      this.#go(this.#at + 1);
    }
  }
}
