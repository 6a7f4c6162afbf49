/** The page: what happens when the user does something. Views are told by `refresh`, the pose is brought up to date per frame. */
import { type Clip, identityPose, type Method, type Poise, type Vec3 } from 'poise-ik';
import { button, download, element } from './dom.js';
import { Drawer } from './drawer.js';
import { Body, type Look } from './body/body.js';
import { builtInLooks } from './body/built_in_looks.js';
import { droppedFiles, readAll } from './body/dropped.js';
import { amongFiles, type Find, fromServer, withIncludes } from './body/named_files.js';
import type { Visual } from './body/visuals.js';
import type { Part } from './figure.js';
import { type DroppedFile, type Opened, openFiles } from './open_files.js';
import { History } from './history.js';
import { listenToKeys } from './keys.js';
import { Live } from './live.js';
import { Notices } from './notices.js';
import { Panel } from './panel.js';
import { pathOf } from './race.js';
import { bake, extensionOf, save, type SaveKind } from './saving.js';
import type { Saved, Session } from './session.js';
import { compose } from './spatial.js';
import type { GoalKind } from './targets.js';
import { decode, encode, MOST_LETTERS, pack, unpack } from './share.js';
import { isPlanar, offers, openScene } from './stages.js';
import { describe } from './status.js';
import { applyTheme, firstTheme, type Theme } from './theme.js';
import { Timeline } from './timeline.js';
import { trackAll } from './tracking.js';
import { Viewport } from './viewport.js';

const FIRST_SCENE = 'arm7';
const MOST_FRAMES = 300; // that a slow method may go on for after the last change
const TURN = Math.PI / 36; // of a goal by one key

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

  readonly viewport: Viewport;
  readonly panel: Panel;
  readonly timeline: Timeline;
  readonly drawer: Drawer;
  #status = element('div', { className: 'status', role: 'status', 'aria-live': 'off' });
  #notices = new Notices();
  #sceneMenu: HTMLSelectElement;
  #undo: HTMLButtonElement;
  #redo: HTMLButtonElement;
  #file: HTMLInputElement;
  #lastTick = 0;
  #lastStatus = 0;
  #lastFollowed = 0;
  #moved = false; // the joints' values are not shown yet
  #dirty = true;
  #pulling: { index: number; from: Vec3; position: Vec3 } | null = null;
  #more = 0; // frames left to a method that has not come to an end
  #own: HTMLOptionElement; // the entry of the menu for the user's file

  constructor(
    readonly poise: Poise,
    body: HTMLElement,
  ) {
    const canvas = element('canvas', { className: 'stage', tabIndex: 0, 'aria-label': 'Skeleton and goals in space. Keys: see help.' });
    this.#own = element('option', { value: '', hidden: true }, 'Your file');
    this.#sceneMenu = this.#makeSceneMenu();
    this.#undo = button('Undo (Ctrl+Z)', () => this.undo(), '↶');
    this.#redo = button('Redo (Ctrl+Shift+Z)', () => this.redo(), '↷');
    this.#file = element('input', { type: 'file', multiple: true, hidden: true, 'aria-label': 'Files to open' });
    this.#file.addEventListener('change', () => void this.openDropped(Array.from(this.#file.files ?? [])));
    this.panel = new Panel(this);
    this.timeline = new Timeline(this);
    this.drawer = new Drawer(this);
    const stage = element('main', {}, canvas, this.#status, this.#notices.root, element('div', { className: 'dropping' }, 'Drop to open'));
    body.classList.toggle('panel-hidden', matchMedia('(max-width: 760px), (max-height: 500px)').matches);
    body.append(this.#makeBar(), stage, this.panel.root, element('footer', {}, this.timeline.root, this.drawer.root));
    this.viewport = new Viewport(canvas, this.#viewportEvents(), this.colours);
    this.viewport.resize();
    this.#acceptDrops(body);
    listenToKeys(this);
    addEventListener('popstate', () => void this.open(new URL(location.href)));
    this.refresh();
    requestAnimationFrame((time) => this.#tick(time));
  }

  // ---- Building ----------------------------------------------------------------------------------------------------------

  #makeSceneMenu(): HTMLSelectElement {
    const groups = [...new Set(offers.map((offer) => offer.group))];
    const menu = element(
      'select',
      { 'aria-label': 'Scene' },
      this.#own,
      ...groups.map((group) =>
        element('optgroup', { label: group }, ...offers.filter((o) => o.group === group).map((o) => element('option', { value: o.id }, o.title))),
      ),
    );
    menu.addEventListener('change', () => menu.value && this.#visit(menu.value));
    return menu;
  }

  #makeBar(): HTMLElement {
    return element(
      'header',
      {},
      element('h1', {}, 'Poise'),
      this.#sceneMenu,
      button('Open a file (O)', () => this.#file.click(), 'Open'),
      this.#file,
      element('span', { className: 'space' }),
      this.#undo,
      this.#redo,
      button('Copy a link to this (L)', () => void this.share(), 'Share'),
      button('Save the result (S)', () => void this.export(), 'Save'),
      button('Dark or light (D)', () => this.switchTheme(), '◐'),
      button('Help and keys (?)', () => void this.help(), '?'),
      button('Show or hide the panel', () => document.body.classList.toggle('panel-hidden'), '☰', { className: 'menu' }),
    );
  }

  #viewportEvents() {
    return {
      drag: (index: number, done: boolean) => {
        this.session?.moved(index);
        this.touch();
        if (done) {
          this.commit();
        }
      },
      pull: (body: number, local: Vec3, point: Vec3, done: boolean) => this.pull(body, local, point, done),
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
      void (event.dataTransfer ? droppedFiles(event.dataTransfer).then((list) => this.openDropped(list)) : null);
    });
  }

  // ---- Opening -----------------------------------------------------------------------------------------------------------

  /** What an address asks for: a shared state behind '#', a file of the server, a scene, or the first scene. */
  async open(address: URL): Promise<void> {
    try {
      const file = address.searchParams.get('file');
      if (address.hash.length > 1) {
        await this.#openLink(address.hash.slice(1));
      } else if (file?.startsWith('/')) {
        const response = await fetch(file.split('/').map(encodeURIComponent).join('/'));
        if (!response.ok) {
          throw new Error(`${file}: the server has no such file`);
        }
        const name = file.slice(file.lastIndexOf('/') + 1);
        const find = fromServer(file.slice(0, file.lastIndexOf('/')).split('/').map(encodeURIComponent).join('/'));
        this.#openFiles(await withIncludes({ name, bytes: new Uint8Array(await response.arrayBuffer()) }, find), find);
      } else {
        this.openScene(address.searchParams.get('scene') ?? FIRST_SCENE);
      }
      if (address.searchParams.has('live') && !this.live) {
        this.live = new Live(this);
      }
    } catch (error) {
      this.complain(error);
    }
  }

  async #openLink(text: string): Promise<void> {
    const shared = await decode(text);
    if (shared.scene || !shared.files) {
      this.openScene(shared.scene ?? FIRST_SCENE);
    }
    if (shared.files) {
      this.#openFiles(shared.files.map(unpack));
    }
    this.session?.restore(shared.state);
    this.viewport.rebuildTargets();
    this.selectTarget(shared.state.targets.length > 0 ? 0 : -1);
    this.play(false);
    this.history = new History<Saved | null>(this.session?.save() ?? null);
    this.refresh();
    this.home();
  }

  /** Open a scene as a step that the browser's Back takes back. */
  #visit(id: string): void {
    this.openScene(id);
    if (this.scene === id) {
      history.pushState(null, '', `?scene=${id.split('/').map(encodeURIComponent).join('/')}`);
    }
  }

  openScene(id: string): void {
    try {
      this.#show(openScene(this.poise, id), id, []);
      const { session } = this;
      void this.#dress(session!, builtInLooks(id, session!.model, session!.size()), async () => null);
      this.notify(offers.find((offer) => offer.id === id)?.hint ?? '', true);
    } catch (error) {
      this.complain(error);
    }
  }

  async openDropped(list: readonly File[]): Promise<void> {
    this.#file.value = '';
    if (list.length > 0) {
      try {
        this.notify(`Reading ${list.length > 5 ? `${list.length} files` : list.map((file) => file.name).join(', ')} …`);
        const files = await readAll(list);
        await new Promise((done) => setTimeout(done, 30)); // so that the notice is seen
        this.#openFiles(files);
        if (this.files.length > 0 && (location.search || location.hash)) {
          history.pushState(null, '', location.pathname); // the address of the scene before is not that of the file
        }
      } catch (error) {
        this.complain(error);
      }
    }
  }

  /** On failure the stage stays as it was. */
  #openFiles(files: DroppedFile[], find: Find = amongFiles(files)): void {
    try {
      const { session, notes, onto, robot, shapes } = openFiles(this.poise, files, this.session);
      const { joints, nv } = session.model;
      this.#show(session, onto ? this.scene : null, onto ? [...this.files, ...files] : files);
      this.notify(notes.length > 0 ? notes.join('\n') : `${session.stage.title}: ${joints.length} joints, ${nv} degrees of freedom`, notes.length === 0);
      if (!onto) {
        this.viewport.setShapes(shapes);
        void this.#dressAs(session, robot, files, find);
      }
    } catch (error) {
      this.complain(error);
    }
  }

  /** As its file has it; what reads that comes when it is needed. */
  async #dressAs(session: Session, robot: Opened['robot'], files: DroppedFile[], find: Find): Promise<void> {
    if (robot && ['urdf', 'mjcf'].includes(robot.format)) {
      const { visualsOf } = await import('./body/gather.js');
      await this.#dress(session, visualsOf(robot.format, robot.bytes, files), find);
    }
  }

  /** Put shapes on the bodies; meshes come one by one. */
  async #dress(session: Session, visuals: readonly Visual[], find: Find): Promise<void> {
    if (visuals.length === 0 || session !== this.session) {
      return;
    }
    const body = new Body(session.model);
    this.viewport.setBody(body);
    const arrived = () => session === this.session && this.viewport.dressed();
    await body.add(visuals, find, arrived);
    if (session !== this.session) {
      body.dispose();
      return;
    }
    this.viewport.dressed(true);
    this.panel.refresh();
    if (body.missing.length > 0) {
      const first = body.missing[0]!.split('/').at(-1);
      const many = body.missing.length > 1 ? `${body.missing.length} meshes, such as ${first},` : `The mesh ${first}`;
      this.notify(`${many} did not come with the robot. Drop the folder or zip that holds them together with it.`);
    }
  }

  setLook(look: Look): void {
    this.viewport.setLook(look);
    this.panel.refresh();
  }

  #show(session: Session, scene: string | null, files: DroppedFile[]): void {
    const before = this.session;
    this.session = session;
    this.scene = scene;
    this.files = files;
    this.selectedJoint = -1;
    this.playing = session.duration > 0;
    const listed = files.length === 0 && offers.some((offer) => offer.id === scene);
    this.#own.hidden = listed;
    this.#own.textContent = session.stage.title;
    this.#sceneMenu.value = listed ? (scene ?? '') : '';
    document.title = `${session.stage.title} · Poise studio`;
    this.viewport.show(session, scene !== null && isPlanar(scene));
    session.update();
    this.history = new History<Saved | null>(session.save());
    this.drawer.forget();
    this.selectTarget(session.targets.length > 0 ? 0 : -1);
    this.refresh();
    before?.dispose();
  }

  // ---- Doing -------------------------------------------------------------------------------------------------------------

  /** The pose has to be sought anew. */
  touch(): void {
    this.#dirty = true;
    this.#more = MOST_FRAMES;
  }

  /** Bring all views up to date with the session. */
  refresh(): void {
    this.touch();
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
      this.session.restore(state, this.session.duration === 0);
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

  /**
   * A point of a body is dragged. A goal of that body goes along; without one the point is pulled, as long as the pointer holds
   * it, and where a motion plays it becomes a goal.
   */
  pull(body: number, local: Vec3, point: Vec3, done: boolean): void {
    const { session } = this;
    if (!session || session.live || session.model.nv === 0) {
      return;
    }
    session.byHand = false;
    if (!this.#pulling) {
      const held = session.targets.findIndex((target) => target.enabled && target.body === body && target.kind !== 'aim');
      const index = held < 0 && session.duration > 0 ? this.#addPulled(session, body, local) : held;
      this.#pulling = { index, from: point, position: session.targets[index]?.position ?? point };
    }
    const { index, from, position } = this.#pulling;
    const target = session.targets[index];
    if (target) {
      target.position = [0, 1, 2].map((k) => position[k]! + point[k]! - from[k]!) as unknown as Vec3;
      session.moved(index);
    } else {
      session.pullAt(body, local, point);
    }
    this.touch();
    if (done) {
      session.letGo();
      this.#pulling = null;
      this.commit();
    }
  }

  #addPulled(session: Session, body: number, local: Vec3): number {
    session.addTarget('position', body, { ...identityPose, position: local });
    this.viewport.rebuildTargets();
    this.viewport.selectTarget(session.targets.length - 1);
    return session.targets.length - 1;
  }

  /** A goal for the picked body; without one, for an end of the skeleton that has none. A pin keeps the body where it is. */
  addGoal(kind: GoalKind): void {
    const { session } = this;
    if (!session || session.model.nv === 0) {
      return;
    }
    const { model } = session;
    const taken = new Set(session.targets.map((t) => t.body));
    const free = model.tools.find((t) => !taken.has(t.body))?.body ?? model.joints.find((j) => j.subtree === 1 && !taken.has(j.index))?.index;
    const body = this.selectedJoint >= 0 ? this.selectedJoint : (free ?? model.joints.length - 1);
    const tool = kind === 'pin' ? undefined : model.tools.find((t) => t.body === body);
    session.addTarget(kind, body, tool?.pose ?? identityPose);
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

  /** Move the selected goal by a hundredth of the skeleton's size to the right, up or away, or turn it about that axis. */
  nudge([right, up, away]: readonly [number, number, number]): void {
    const direction: Vec3 = this.viewport.up === 'y' ? [right, up, -away] : [right, away, up];
    const index = this.viewport.selectedTarget;
    const target = this.session?.targets[index];
    if (target && this.session) {
      if (this.viewport.mode === 'rotate') {
        const [x, y, z] = direction.map((d) => Math.sin(TURN / 2) * d) as [number, number, number];
        const turned = compose({ position: [0, 0, 0], rotation: [x, y, z, Math.cos(TURN / 2)] }, { position: [0, 0, 0], rotation: target.rotation });
        target.rotation = turned.rotation;
      } else {
        const step = 0.01 * this.session.size();
        const [x, y, z] = target.position;
        target.position = [x + step * direction[0], y + step * direction[1], z + step * direction[2]];
      }
      this.session.moved(index);
      this.commit();
    }
  }

  /** What the arrows of the selected goal do. */
  setArrows(mode: 'translate' | 'rotate'): void {
    this.viewport.gizmoMode(mode);
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
    this.#dirty = true;
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

  /** Look at the selected goal, or the picked part. */
  focus(): void {
    const target = this.session?.targets[this.viewport.selectedTarget];
    const at = this.selectedJoint >= 0 ? this.session?.kinematics.bodyPose(this.selectedJoint).position : target?.position;
    if (at) {
      this.viewport.focus(at);
    }
  }

  home(): void {
    this.viewport.home();
    this.#dirty = true;
  }

  async help(): Promise<void> {
    const { helpDialog } = await import('./help.js');
    helpDialog();
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
    const files = this.files.length > 0 ? { files: this.files.map(({ name, bytes }) => pack(name, bytes)) } : {};
    const text = await encode({ ...(this.scene ? { scene: this.scene } : {}), ...files, state: session.save() });
    if (text.length > MOST_LETTERS) {
      this.notify(`This is too much for a link (${Math.round(text.length / 1000)} kB; ${MOST_LETTERS / 1000} kB fit). Save it and send the file instead.`);
      return;
    }
    const link = new URL(location.href);
    link.search = '';
    link.hash = text;
    history.replaceState(null, '', link);
    try {
      await navigator.clipboard.writeText(link.href);
      this.notify('A link to this scene is in the clipboard and in the address bar.', true);
    } catch {
      this.notify('A link to this scene is in the address bar.', true);
    }
  }

  /** What is on the screen as a file. */
  async export(kind: SaveKind = 'json'): Promise<void> {
    const { session } = this;
    if (!session) {
      return;
    }
    try {
      const name = session.stage.title.replace(/\.[a-z0-9]+$/i, '').replaceAll(/[^\w-]+/g, '-') || 'poise';
      const file = `${name}.${extensionOf(kind)}`;
      const { bytes, warnings } = await save(session, kind, (part) => this.#notices.progress(`Writing ${file}`, part));
      download(file, bytes, kind === 'json' ? 'application/json' : undefined);
      this.notify([`Saved ${file}.`, ...warnings.map((w) => w.text)].join('\n'), warnings.length === 0);
    } catch (error) {
      this.complain(error);
    }
  }

  /** Make the goals part of the motion. */
  async bake(): Promise<void> {
    const { session } = this;
    if (session) {
      const clip = await bake(session, (part) => this.#notices.progress('Baking the goals into the motion', part));
      if (session !== this.session) {
        clip.dispose();
        return;
      }
      this.#setBaked(clip);
      this.notify('The goals are part of the motion now, and rest.', true);
    }
  }

  unbake(): void {
    this.#setBaked(null);
  }

  #setBaked(clip: Clip | null): void {
    this.session?.setBaked(clip);
    this.viewport.rebuildTargets();
    this.commit();
  }

  // ---- Telling -----------------------------------------------------------------------------------------------------------

  notify(text: string, passing = false): void {
    this.#notices.say(text, passing);
  }

  complain(error: unknown): void {
    this.#notices.complain(error);
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

  #tick(now: number): void {
    requestAnimationFrame((time) => this.#tick(time));
    const { session } = this;
    const dt = Math.min(0.1, (now - this.#lastTick) / 1000);
    this.#lastTick = now;
    if (!session) {
      return;
    }
    if (this.playing && session.duration > 0) {
      session.setTime((session.time + dt) % session.duration);
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
      if (this.playing) {
        this.viewport.accompany(dt);
      }
      if (session.last.outcome === 'budget' && this.#more > 0) {
        this.#more -= 1;
        this.#dirty = true;
      }
      this.frameTimes.push(performance.now() - started);
      this.frameTimes.splice(0, this.frameTimes.length - 1000);
      this.drawer.follow();
      this.#moved = true;
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
    this.viewport.draw();
  }

  /** For tests in a browser: what cannot be read off the page. */
  probe() {
    return {
      state: () => this.session?.save(),
      settled: () => !this.#dirty,
      errors: () => this.session?.last.errors ?? [],
      last: () => this.session?.last,
      title: () => this.session?.stage.title,
      tip: (target: number) => {
        const t = this.session?.targets[target];
        return t ? this.session?.kinematics.point(t.body, t.local.position) : null;
      },
      project: (point: readonly number[]) => this.viewport.project(point),
      withinLimits: () => this.session?.model.isWithinLimits(this.session.q),
      live: () => (this.live ? { shown: this.live.shown, time: this.live.time, ghost: this.live.ghost?.last ?? null } : null),
      frameTimes: () => [...this.frameTimes],
      path: (method: Method) => this.session && pathOf(this.session, method)?.map((q) => Array.from(q)),
      heap: () => this.poise.heap,
      look: () => ({ look: this.viewport.look, meshes: this.viewport.meshCount, box: this.viewport.bodyBox }),
      ground: () => this.viewport.ground,
      size: () => this.session?.size(),
      standing: () => this.session?.standing(),
      bodies: () => {
        const { model, kinematics } = this.session!;
        return Object.fromEntries(model.joints.flatMap(({ name, body, index }) => [name, body].map((key) => [key, kinematics.bodyPose(index).position])));
      },
      metres: () => this.session?.stage.scale.metres,
      markerError: () => this.session?.markerError(),
      selected: () => this.viewport.selectedTarget,
    };
  }
}
