/** The page: what happens when the user does something. Views are told by `refresh`, the pose is brought up to date per frame. */
import type { Method, Poise } from 'poise-ik';
import { button, download, element } from './dom.js';
import { Drawer } from './drawer.js';
import type { Part } from './figure.js';
import { helpDialog } from './help.js';
import { History } from './history.js';
import { listenToKeys } from './keys.js';
import { Panel } from './panel.js';
import type { GoalKind, Saved, Session } from './session.js';
import { decode, encode, fromBase64, MOST_BYTES, toBase64 } from './share.js';
import { type DroppedFile, isPlanar, offers, openFiles, openScene } from './stages.js';
import { applyTheme, firstTheme, type Theme } from './theme.js';
import { Timeline } from './timeline.js';
import { trackAll } from './tracking.js';
import { Viewport } from './viewport.js';

const FIRST_SCENE = 'arm7';

export class App {
  session: Session | null = null;
  scene: string | null = null;
  files: DroppedFile[] = [];
  playing = false;
  theme: Theme = firstTheme();
  colours = applyTheme(this.theme);
  selectedJoint = -1;
  history = new History<Saved | null>(null);
  /** Milliseconds of solver and scene update in the last frames. */
  readonly frameTimes: number[] = [];

  readonly viewport: Viewport;
  readonly panel: Panel;
  readonly timeline: Timeline;
  readonly drawer: Drawer;
  #status = element('div', { className: 'status', role: 'status', 'aria-live': 'polite' });
  #notice = element('div', { className: 'notice', role: 'alert', hidden: true });
  #sceneMenu: HTMLSelectElement;
  #undo: HTMLButtonElement;
  #redo: HTMLButtonElement;
  #file: HTMLInputElement;
  #lastTick = 0;
  #lastStatus = 0;
  #dirty = true;

  constructor(
    readonly poise: Poise,
    body: HTMLElement,
  ) {
    const canvas = element('canvas', { className: 'stage', tabIndex: 0, 'aria-label': 'Skeleton and goals in space. Keys: see help.' });
    this.#sceneMenu = this.#makeSceneMenu();
    this.#undo = button('Undo (Ctrl+Z)', () => this.undo(), '↶');
    this.#redo = button('Redo (Ctrl+Shift+Z)', () => this.redo(), '↷');
    this.#file = element('input', { type: 'file', multiple: true, hidden: true, 'aria-label': 'Files to open' });
    this.#file.addEventListener('change', () => void this.openDropped(Array.from(this.#file.files ?? [])));
    this.panel = new Panel(this);
    this.timeline = new Timeline(this);
    this.drawer = new Drawer(this);
    const stage = element('main', {}, canvas, this.#status, this.#notice, element('div', { className: 'dropping' }, 'Drop to open'));
    body.classList.toggle('panel-hidden', matchMedia('(max-width: 760px)').matches);
    body.append(this.#makeBar(), stage, this.panel.root, element('footer', {}, this.timeline.root, this.drawer.root));
    this.viewport = new Viewport(canvas, this.#viewportEvents(), this.colours);
    this.viewport.resize();
    this.#acceptDrops(body);
    listenToKeys(this);
    addEventListener('hashchange', () => void this.open(new URL(location.href)).catch((error: unknown) => this.complain(error)));
    requestAnimationFrame((time) => this.#tick(time));
  }

  // ---- Building ----------------------------------------------------------------------------------------------------------

  #makeSceneMenu(): HTMLSelectElement {
    const groups = [...new Set(offers.map((offer) => offer.group))];
    const menu = element(
      'select',
      { 'aria-label': 'Scene' },
      element('option', { value: '', hidden: true }, 'Your file'),
      ...groups.map((group) =>
        element('optgroup', { label: group }, ...offers.filter((o) => o.group === group).map((o) => element('option', { value: o.id }, o.title))),
      ),
    );
    menu.addEventListener('change', () => this.openScene(menu.value));
    return menu;
  }

  #makeBar(): HTMLElement {
    return element(
      'header',
      {},
      element('strong', {}, 'Poise'),
      this.#sceneMenu,
      button('Open a file (O)', () => this.#file.click(), 'Open'),
      this.#file,
      element('span', { className: 'space' }),
      this.#undo,
      this.#redo,
      button('Copy a link to this (L)', () => void this.share(), 'Share'),
      button('Save the result (S)', () => this.export(), 'Save'),
      button('Dark or light (D)', () => this.switchTheme(), '◐'),
      button('Help and keys (?)', () => helpDialog(), '?'),
      button('Show or hide the panel', () => document.body.classList.toggle('panel-hidden'), '☰', { className: 'menu' }),
    );
  }

  #viewportEvents() {
    return {
      drag: (index: number, done: boolean) => {
        this.session?.moved(index);
        this.#dirty = true;
        if (done) {
          this.commit();
        }
      },
      pickTarget: (index: number) => this.selectTarget(index),
      pickPart: (part: Part | null) => this.pick(part),
    };
  }

  #acceptDrops(body: HTMLElement): void {
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    body.addEventListener('dragover', (event) => {
      if (carriesFiles(event)) {
        event.preventDefault();
        body.classList.add('drop');
      }
    });
    body.addEventListener('dragleave', (event) => {
      if (!event.relatedTarget) {
        body.classList.remove('drop');
      }
    });
    body.addEventListener('drop', (event) => {
      event.preventDefault();
      body.classList.remove('drop');
      void this.openDropped(Array.from(event.dataTransfer?.files ?? []));
    });
  }

  // ---- Opening -----------------------------------------------------------------------------------------------------------

  /** What an address asks for: a shared state behind '#', a file of the server, a scene, or the first scene. */
  async open(address: URL): Promise<void> {
    const file = address.searchParams.get('file');
    const scene = address.searchParams.get('scene');
    if (address.hash.length > 1) {
      const shared = await decode(address.hash.slice(1));
      if (shared.files) {
        this.#openFiles(shared.files.map(({ name, base64 }) => ({ name, bytes: fromBase64(base64) })));
      } else {
        this.openScene(shared.scene ?? FIRST_SCENE);
      }
      this.session?.restore(shared.state);
      this.history = new History<Saved | null>(this.session?.save() ?? null);
      this.refresh();
    } else if (file?.startsWith('/')) {
      const response = await fetch(file);
      if (!response.ok) {
        throw new Error(`${file}: the server has no such file`);
      }
      this.#openFiles([{ name: decodeURIComponent(file.slice(file.lastIndexOf('/') + 1)), bytes: new Uint8Array(await response.arrayBuffer()) }]);
    } else {
      this.openScene(scene ?? FIRST_SCENE);
    }
  }

  openScene(id: string): void {
    try {
      this.#show(openScene(this.poise, id), id, []);
      this.notify(offers.find((offer) => offer.id === id)?.hint ?? '', true);
    } catch (error) {
      this.complain(error);
    }
  }

  async openDropped(list: File[]): Promise<void> {
    if (list.length > 0) {
      const files = await Promise.all(list.map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })));
      this.#openFiles(files);
    }
    this.#file.value = '';
  }

  /** On failure the stage stays as it was. */
  #openFiles(files: DroppedFile[]): void {
    try {
      const { session, notes } = openFiles(this.poise, files, this.session);
      this.#show(session, null, files);
      this.notify(notes.length > 0 ? notes.join('\n') : `${session.stage.title}: ${session.model.joints.length} joints, ${session.model.nv} degrees of freedom`, true);
    } catch (error) {
      this.complain(error);
    }
  }

  #show(session: Session, scene: string | null, files: DroppedFile[]): void {
    const before = this.session;
    this.session = session;
    this.scene = scene;
    this.files = files;
    this.selectedJoint = -1;
    this.playing = session.duration > 0;
    this.#sceneMenu.value = scene ?? '';
    this.viewport.show(session, scene !== null && isPlanar(scene));
    session.update();
    this.history = new History<Saved | null>(session.save());
    this.drawer.forget();
    this.selectTarget(session.targets.length > 0 ? 0 : -1);
    this.refresh();
    before?.dispose();
  }

  // ---- Doing -------------------------------------------------------------------------------------------------------------

  /** Bring all views up to date with the session. */
  refresh(): void {
    this.#dirty = true;
    this.panel.refresh();
    this.timeline.refresh();
    this.drawer.refresh();
    this.#undo.disabled = !this.history.canUndo;
    this.#redo.disabled = !this.history.canRedo;
  }

  /** Something was done that undo should know. */
  commit(): void {
    if (this.session) {
      this.session.update();
      this.history.push(this.session.save());
      this.refresh();
    }
  }

  #travel(state: Saved | null): void {
    if (state && this.session) {
      this.session.restore(state);
      this.viewport.rebuildTargets();
      this.refresh();
    }
  }

  undo(): void {
    this.#travel(this.history.undo());
  }

  redo(): void {
    this.#travel(this.history.redo());
  }

  selectTarget(index: number): void {
    this.viewport.selectTarget(index);
    this.panel.refresh();
    this.#dirty = true;
  }

  selectJoint(joint: number): void {
    this.selectedJoint = joint;
    this.viewport.selectJoint(joint);
    this.panel.refresh();
    this.#dirty = true;
  }

  pick(part: Part | null): void {
    if (!part) {
      this.viewport.selectTarget(-1);
    }
    this.selectJoint(part ? part.body : -1);
  }

  /** A goal for the selected body; without one, for an end of the skeleton that has none. */
  addGoal(kind: GoalKind): void {
    const { session } = this;
    if (!session) {
      return;
    }
    const { model } = session;
    const taken = new Set(session.targets.map((t) => t.body));
    const free = model.tools.find((t) => !taken.has(t.body))?.body ?? model.joints.find((j) => j.subtree === 1 && !taken.has(j.index))?.index;
    const body = this.selectedJoint >= 0 ? this.selectedJoint : (free ?? model.joints.length - 1);
    const tool = model.tools.find((t) => t.body === body);
    session.addTarget(kind, body, tool?.pose ?? { position: [0, 0, 0], rotation: [0, 0, 0, 1] });
    this.viewport.rebuildTargets();
    this.viewport.selectTarget(session.targets.length - 1);
    this.commit();
  }

  removeGoal(index: number): void {
    if (this.session?.targets[index]) {
      this.session.targets.splice(index, 1);
      this.session.changed();
      this.viewport.rebuildTargets();
      this.commit();
    }
  }

  /** Move the selected goal by hand or by key, in model units. */
  nudge(direction: readonly number[]): void {
    const index = this.viewport.selectedTarget;
    const target = this.session?.targets[index];
    if (target && this.session) {
      const step = 0.01 * this.session.size();
      target.position = [0, 1, 2].map((k) => target.position[k]! + step * direction[k]!) as unknown as typeof target.position;
      this.session.moved(index);
      this.commit();
    }
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

  setTime(time: number): void {
    if (this.session) {
      this.session.time = Math.max(0, Math.min(time, this.session.duration - 1e-9));
      this.#dirty = true;
      this.timeline.refresh();
    }
  }

  play(on = !this.playing): void {
    this.playing = on && (this.session?.duration ?? 0) > 0;
    this.timeline.refresh();
  }

  /** Follow the whole recording and keep the motion, with the error of each marker over time. */
  track(): void {
    if (this.session) {
      try {
        const summary = trackAll(this.session);
        this.notify(summary, true);
        this.drawer.show('markers');
        this.refresh();
      } catch (error) {
        this.complain(error);
      }
    }
  }

  home(): void {
    this.viewport.home();
    this.#dirty = true;
  }

  switchTheme(): void {
    this.theme = this.theme === 'dark' ? 'light' : 'dark';
    this.colours = applyTheme(this.theme);
    this.viewport.paint(this.colours);
    this.refresh();
  }

  // ---- Taking along ------------------------------------------------------------------------------------------------------

  async share(): Promise<void> {
    const { session } = this;
    if (!session) {
      return;
    }
    const bytes = this.files.reduce((sum, file) => sum + file.bytes.length, 0);
    if (bytes > MOST_BYTES) {
      this.notify(`Your file is too large for a link (${Math.round(bytes / 1000)} kB; up to ${MOST_BYTES / 1000} kB fit). Save it and send the file instead.`);
      return;
    }
    const source = this.scene ? { scene: this.scene } : { files: this.files.map(({ name, bytes: b }) => ({ name, base64: toBase64(b) })) };
    const link = new URL(location.href);
    link.search = '';
    link.hash = await encode({ ...source, state: session.save() });
    history.replaceState(null, '', link);
    try {
      await navigator.clipboard.writeText(link.href);
      this.notify('A link to this scene is in the clipboard and in the address bar.', true);
    } catch {
      this.notify('A link to this scene is in the address bar.', true);
    }
  }

  /** Everything as poise JSON: skeleton, pose, goals, motion. */
  export(format: 'json' | 'bvh' | 'mot' | 'glb' | 'c3d' = 'json'): void {
    if (!this.session) {
      return;
    }
    try {
      const { bytes, warnings } = this.poise.write(this.session.content(), format);
      const name = this.session.stage.title.replace(/\.[a-z0-9]+$/i, '').replaceAll(/[^\w-]+/g, '-') || 'poise';
      download(`${name}.${format}`, bytes, format === 'json' ? 'application/json' : undefined);
      this.notify(warnings.length > 0 ? warnings.map((w) => w.text).join('\n') : `Saved ${name}.${format}.`, warnings.length === 0);
    } catch (error) {
      this.complain(error);
    }
  }

  // ---- Telling -----------------------------------------------------------------------------------------------------------

  #noticeTimer = 0;

  notify(text: string, passing = false): void {
    clearTimeout(this.#noticeTimer);
    this.#notice.replaceChildren(text, button('Close', () => (this.#notice.hidden = true), '×'));
    this.#notice.hidden = text === '';
    this.#notice.classList.remove('bad');
    if (passing) {
      this.#noticeTimer = window.setTimeout(() => (this.#notice.hidden = true), 6000);
    }
  }

  complain(error: unknown): void {
    this.notify(error instanceof Error ? error.message : String(error));
    this.#notice.classList.add('bad');
  }

  #tell(): void {
    const last = this.session?.last;
    if (!last || !this.session) {
      return;
    }
    const worst = last.errors.reduce((most, e) => Math.max(most, e.error), 0);
    const words = last.outcome
      ? [`${last.outcome}`, last.report ? `${last.iterations} iterations` : `${last.iterations} evaluations`, `${last.milliseconds.toFixed(2)} ms`]
      : ['no goals'];
    if (last.errors.length > 0) {
      words.push(`error ${worst < 1e-9 ? '0' : worst.toPrecision(2)}`);
    }
    this.#status.textContent = words.join(' · ');
    this.#status.dataset['outcome'] = last.outcome;
  }

  // ---- Frames ------------------------------------------------------------------------------------------------------------

  #tick(now: number): void {
    requestAnimationFrame((time) => this.#tick(time));
    const { session } = this;
    const dt = Math.min(0.1, (now - this.#lastTick) / 1000);
    this.#lastTick = now;
    if (!session) {
      return;
    }
    if (this.playing && session.duration > 0) {
      session.time = (session.time + dt) % session.duration;
      this.timeline.move();
      this.#dirty = true;
    }
    if (this.#dirty) {
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
      this.viewport.place();
      this.frameTimes.push(performance.now() - started);
      this.frameTimes.splice(0, this.frameTimes.length - 1000);
      this.drawer.follow();
    }
    if (now - this.#lastStatus > 150) {
      this.#lastStatus = now;
      this.#tell();
    }
    this.viewport.draw();
  }

  /** For tests in a browser: what cannot be read off the page. */
  probe() {
    return {
      state: () => this.session?.save(),
      errors: () => this.session?.last.errors ?? [],
      last: () => this.session?.last,
      title: () => this.session?.stage.title,
      tip: (target: number) => {
        const t = this.session?.targets[target];
        return t ? this.session?.kinematics.point(t.body, t.local.position) : null;
      },
      project: (point: readonly number[]) => this.viewport.project(point),
      withinLimits: () => this.session?.model.isWithinLimits(this.session.q),
      frameTimes: () => [...this.frameTimes],
      heap: () => this.poise.heap,
    };
  }
}
