/** The page: its parts, what is on the stage, and one frame after the other. Views are told by `refresh`, the pose is brought up to date per frame. */
import type { Method, Poise } from 'poise-ik';
import { Answers } from './answers.js';
import { Bar } from './bar.js';
import type { Look } from './body/looks.js';
import { element } from './dom.js';
import { Drawer } from './drawer.js';
import type { Part } from './view/figure.js';
import { FrameLoop } from './frame_loop.js';
import { GoalActions } from './goal_actions.js';
import { History } from './history.js';
import { listenToKeys } from './keys.js';
import { Invite } from './invite.js';
import type { Live } from './live.js';
import { Measure } from './measure.js';
import { Notices } from './notices.js';
import type { DroppedFile } from './open_files.js';
import { Opener } from './opener.js';
import { Panel } from './panel.js';
import { isPartMissing } from './loading/parts.js';
import { Reach } from './reach.js';
import { trackSession } from './recording/track_session.js';
import type { Session } from './session.js';
import type { Saved } from './stage.js';
import { isPlanar, offers } from './stages.js';
import { describe } from './status.js';
import { TakeAlong } from './take_along.js';
import { applyTheme, firstTheme, type Theme } from './theme.js';
import { Timeline } from './timeline.js';
import type { TourGuide } from './tours.js';
import { Viewport } from './viewport.js';

const REST = 300; // milliseconds that a drag has to rest before other poses are tried
const MOST_FRAMES = 300; // that a slow method may go on for after the last change

const isNarrow = (): boolean => matchMedia('(max-width: 760px), (max-height: 500px)').matches;

export class App {
  session: Session | null = null;
  scene: string | null = null;
  files: DroppedFile[] = [];
  playing = false;
  theme: Theme = firstTheme();
  colours = applyTheme(this.theme);
  selectedJoint = -1;
  history = new History<Saved | null>(null);
  live: Live | null = null;
  /** Milliseconds of solver and scene update in the last frames. */
  readonly frameTimes: number[] = [];
  /** Tells of 'theme': the colours are others. */
  readonly events = new EventTarget();

  readonly opener = new Opener(this);
  readonly goals = new GoalActions(this);
  readonly takeAlong = new TakeAlong(this);
  readonly loop = new FrameLoop((now, seconds) => this.#frame(now, seconds));
  readonly answers = new Answers(this);
  readonly invite = new Invite(this);
  readonly reach = new Reach(this);
  readonly measure = new Measure(this);
  readonly notices = new Notices();
  guide: TourGuide | null = null;
  readonly viewport: Viewport;
  readonly panel: Panel;
  readonly timeline: Timeline;
  readonly drawer: Drawer;
  #bar: Bar;
  #status = element('div', { className: 'status', role: 'status', 'aria-live': 'off' });
  #lastStatus = 0;
  #lastFollowed = 0;
  #moved = false; // the joints' values are not shown yet
  #dirty = true;
  #resting: ReturnType<typeof setTimeout> | undefined; // what is dragged comes to rest
  #more = 0; // frames left to a method that has not come to an end

  constructor(
    readonly poise: Poise,
    body: HTMLElement,
  ) {
    const canvas = element('canvas', { className: 'stage', tabIndex: 0, 'aria-label': 'Skeleton and goals in space. Keys: see help.' });
    this.#bar = new Bar(this);
    this.panel = new Panel(this);
    this.timeline = new Timeline(this);
    this.drawer = new Drawer(this);
    const stage = element('main', {}, canvas, this.#status, this.notices.root, element('div', { className: 'dropping' }, 'Drop to open'));
    body.classList.toggle('panel-hidden', isNarrow());
    body.append(this.#bar.root, stage, this.panel.root, element('footer', {}, this.timeline.root, this.drawer.root));
    this.viewport = new Viewport(
      canvas,
      {
        drag: (index, done) => this.goals.drag(index, done),
        pull: (part, local, point, done) => this.goals.pull(part, local, point, done),
        pickTarget: (index) => this.selectTarget(index),
        pickPart: (part) => this.pick(part),
        changed: () => this.loop.wake(),
        resized: () => this.#draw(),
        covered: () => this.notices.box,
        pickMarker: (label) => this.pickMarker(label),
        measure: (end) => this.measure.add(end),
      },
      this.colours,
    );
    this.measure.attach(stage);
    this.notices.onShown = () => this.#makeRoom();
    this.viewport.resize();
    this.opener.acceptDrops(body);
    listenToKeys(this);
    addEventListener('unhandledrejection', (event) => {
      if (isPartMissing(event.reason)) { // a dialog, which no one waits for
        event.preventDefault();
        this.complain(event.reason);
      }
    });
    addEventListener('popstate', () => void this.opener.open(new URL(location.href)));
    this.refresh();
  }

  /** Put a session on the stage, of a scene or of files. Who asks for it has the one before. */
  show(session: Session, scene: string | null, files: DroppedFile[], history = new History<Saved | null>(null)): void {
    this.invite.hide();
    this.session = session;
    this.scene = scene;
    this.files = files;
    this.selectedJoint = -1;
    this.playing = session.plays;
    const listed = files.length === 0 && offers.some((offer) => offer.id === scene);
    this.#bar.show(listed ? scene : null, session.stage.title);
    document.title = `${session.stage.title} · Poise studio`;
    this.viewport.show(session, scene !== null && isPlanar(scene));
    session.update();
    this.history = history.isEmpty ? new History<Saved | null>(session.save()) : history;
    this.answers.clear();
    this.reach.clear();
    this.measure.clear();
    this.drawer.forget();
    this.timeline.forget();
    this.selectTarget(session.targets.length > 0 ? 0 : -1);
    this.refresh();
  }

  // ---- Doing -------------------------------------------------------------------------------------------------------------

  #spoil(): void {
    this.#dirty = true;
    this.loop.wake();
  }

  /** The pose has to be sought anew. */
  touch(): void {
    this.#spoil();
    this.#more = MOST_FRAMES;
  }

  /** Bring all views up to date with the session. */
  refresh(): void {
    this.touch();
    this.panel.refresh();
    this.timeline.refresh();
    this.drawer.refresh();
    this.#bar.refresh();
  }

  /** Something was done that undo should know. */
  commit(): void {
    this.notices.acted();
    if (this.session) {
      this.session.update();
      this.#lookElsewhere(this.session);
      this.history.push(this.session.save());
      this.refresh();
    }
  }

  #travel(state: Saved | null): void {
    if (state && this.session) {
      this.session.restore(state, this.session.duration === 0);
      this.viewport.handles.rebuild();
      this.refresh();
    }
  }

  /** What was done here, and then what stood here before. */
  undo(): void {
    this.history.canUndo ? this.#travel(this.history.undo()) : this.opener.goBack();
  }

  redo(): void {
    this.history.canRedo ? this.#travel(this.history.redo()) : this.opener.goForth();
  }

  get canUndo(): boolean {
    return this.history.canUndo || this.opener.kept.canGoBack;
  }

  get canRedo(): boolean {
    return this.history.canRedo || this.opener.kept.canGoForth;
  }

  selectTarget(index: number): void {
    this.viewport.handles.select(index);
    this.timeline.refresh();
    this.panel.refresh();
    this.#spoil();
  }

  selectJoint(joint: number): void {
    this.selectedJoint = joint;
    this.viewport.selectJoint(joint);
    this.panel.refresh();
    this.drawer.follow();
    this.#spoil();
  }

  pick(part: Part | null): void {
    if (!part) {
      this.viewport.handles.select(-1);
    }
    this.selectJoint(part ? part.body : -1);
  }

  setLook(look: Look): void {
    this.viewport.setLook(look);
    this.panel.refresh();
  }

  /** What the arrows of the selected goal do. */
  setArrows(mode: 'translate' | 'rotate'): void {
    this.viewport.handles.setMode(mode);
    this.panel.refresh();
  }

  /** The arrows along the goal's own axes, or along the world's. */
  setArrowsLocal(on: boolean): void {
    this.viewport.handles.setLocal(on);
    this.panel.refresh();
  }

  setSnap(on: boolean): void {
    this.viewport.handles.setSnap(on);
    this.panel.refresh();
  }

  /** The view without perspective, or with it. */
  setFlat(on: boolean): void {
    this.viewport.setFlat(on);
    this.panel.refresh();
  }

  setFrames(on: boolean): void {
    this.viewport.showFrames(on);
    this.panel.refresh();
  }

  setMethod(method: Method): void {
    if (this.session) {
      this.session.method = method;
      this.session.changed();
      this.commit();
    }
  }

  toggleLock(joint: number): void {
    const locked = this.session?.locked;
    if (locked) {
      if (!locked.delete(joint)) {
        locked.add(joint);
      }
      this.session?.changed();
      this.commit();
    }
  }

  /** Joints are set by the user: a motion stops. */
  poseByHand(change: () => void): void {
    this.play(false);
    change();
    this.touch();
  }

  /** Show a pose until something else is done, and say what it is. */
  preview(q: ArrayLike<number>, words: string): void {
    this.play(false);
    this.session?.preview(q);
    this.#spoil();
    this.notify(words, true);
  }

  setTime(time: number): void {
    if (this.session) {
      this.session.setTime(Math.max(0, Math.min(time, this.session.duration - 1e-9)));
      this.touch();
      this.timeline.refresh();
    }
  }

  play(on = !this.playing): void {
    this.playing = on && (this.session?.plays ?? false);
    this.loop.wake();
    this.timeline.refresh();
  }

  /** Follow the whole recording and keep the motion, with the error of each marker over time. */
  async track(): Promise<void> {
    const { session } = this;
    if (session) {
      try {
        const summary = await trackSession(session, this.opener.begin());
        this.notify(summary, session.judged?.verdict === 'good');
        this.drawer.show('markers');
        this.refresh();
      } catch (error) {
        this.opener.failed(error);
      }
    }
  }

  /** Look at the selected goal, or the picked part. */
  focus(): void {
    const target = this.session?.targets[this.viewport.handles.selected];
    const at = this.selectedJoint >= 0 ? this.session?.kinematics.bodyPose(this.selectedJoint).position : target?.position;
    if (at) {
      this.viewport.focus(at);
    }
  }

  home(): void {
    this.viewport.home();
    this.#spoil();
  }

  /** Words have come over what was just opened: it goes beside them, unless the user has begun with it. */
  #makeRoom(): void {
    if (this.viewport.eye.untouched && !this.history.canUndo) {
      this.home();
    }
  }

  /** A narrow window has room for the panel or for plots, not for both. */
  makeRoomFor(part: 'panel' | 'drawer'): void {
    if (isNarrow()) {
      document.body.classList.toggle('panel-hidden', part === 'drawer');
      if (part === 'panel') {
        this.drawer.close();
      }
    }
  }

  async help(): Promise<void> {
    const { helpDialog } = await import('./help.js');
    helpDialog();
  }

  async gallery(): Promise<void> {
    const { galleryDialog } = await import('./gallery.js');
    galleryDialog(this);
  }

  /** A guided tour, by its name. */
  async tour(id: string): Promise<void> {
    this.invite.hide();
    const { TourGuide } = await import('./tours.js');
    if (!this.guide) {
      this.guide = new TourGuide(this);
      this.viewport.canvas.after(this.guide.root);
    }
    this.guide.begin(id);
  }

  switchTheme(): void {
    this.theme = this.theme === 'dark' ? 'light' : 'dark';
    this.colours = applyTheme(this.theme);
    this.viewport.paint(this.colours);
    this.refresh();
    this.events.dispatchEvent(new Event('theme'));
  }

  /** Show one marker among the others; the same once more: none. */
  pickMarker(label: string): void {
    const { markers } = this.viewport;
    markers.picked = markers.picked === label ? null : label;
    this.refresh();
  }

  // ---- Telling -----------------------------------------------------------------------------------------------------------

  notify(text: string, passing = false): void {
    this.notices.say(text, passing);
  }

  complain(error: unknown): void {
    this.notices.complain(error);
  }

  #tell(): void {
    if (this.session) {
      const { text, tone } = describe(this.session);
      if (this.#status.textContent !== text) {
        this.#status.textContent = text;
      }
      this.#status.dataset['tone'] = tone;
    }
  }

  // ---- Frames ------------------------------------------------------------------------------------------------------------

  /** True: there is more to do. */
  #frame(now: number, seconds: number): boolean {
    const { session } = this;
    if (!session) {
      return false;
    }
    if (this.playing && session.plays) {
      this.timeline.advance(seconds);
      this.#dirty = true;
    }
    if (this.#dirty) {
      this.#update(session, seconds);
    }
    if (this.#moved && now - this.#lastFollowed > 60) {
      this.#lastFollowed = now;
      this.#moved = false;
      this.panel.joints.follow();
    }
    if (now - this.#lastStatus > 150) {
      this.#lastStatus = now;
      this.#tell();
    }
    this.#draw();
    return this.#dirty || this.playing;
  }

  /** The picture, and what lies over it. */
  #draw(): void {
    this.viewport.draw();
    this.measure.follow();
    this.invite.follow();
  }

  /** Seek the pose and bring all shapes there. */
  #update(session: Session, seconds: number): void {
    this.#dirty = false;
    const started = performance.now();
    try {
      session.update();
    } catch (error) {
      this.complain(error);
      session.method = 'auto';
      session.changed();
      this.panel.refresh();
    }
    this.#lookElsewhere(session);
    this.viewport.place();
    this.measure.place();
    if (this.playing) {
      this.viewport.accompany(seconds);
    }
    if (session.last.outcome === 'budget' && this.#more > 0) {
      this.#more -= 1;
      this.#dirty = true;
    }
    this.frameTimes.push(performance.now() - started);
    this.frameTimes.splice(0, this.frameTimes.length - 1000);
    this.drawer.follow();
    this.answers.follow(session);
    this.#moved = true;
  }

  /** Goals are missed: perhaps another pose meets them. While something is dragged the pose follows it without a jump, until it rests. */
  #lookElsewhere(session: Session): void {
    clearTimeout(this.#resting);
    if (!session.isHeld) {
      this.#dirty = session.lookElsewhere() || this.#dirty;
    } else if (session.mayLookElsewhere) {
      this.#resting = setTimeout(() => {
        while (session === this.session && session.lookElsewhere());
        this.#spoil();
      }, REST);
    }
  }

  /** The pose on the screen is that of the present goals and time. */
  get isSettled(): boolean {
    return !this.#dirty;
  }
}
