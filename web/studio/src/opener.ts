/** What comes on the stage: scenes, addresses, links and dropped files, and what they look like. */
import { PoiseError } from 'poise-ik';
import type { App } from './app.js';
import { Body } from './body/body.js';
import { builtInLooks } from './body/built_in_looks.js';
import { droppedFiles, readAll } from './body/dropped.js';
import { amongFiles, type Find, fromServer, withIncludes } from './body/named_files.js';
import type { Visual } from './body/visuals.js';
import { History } from './history.js';
import { Live } from './live.js';
import { type KeptStage, KeptStages } from './loading/kept_stages.js';
import { type DroppedFile, type Opened, openFiles } from './open_files.js';
import { unknownAmong, type Wish } from './loading/file_sets.js';
import type { Work } from './beside.js';
import { plain } from './plain_words.js';
import { type Follower, followerOf, motionAmong, retarget } from './retargeting/follower.js';
import type { Session } from './session.js';
import type { Saved } from './stage.js';
import { decode, unpack } from './share.js';
import { offers, openScene } from './stages.js';
import { counted } from './status.js';

const FIRST_SCENE = 'arm7';

const addressOf = (scene: string): string => `?scene=${scene.split('/').map(encodeURIComponent).join('/')}`;

export class Opener {
  #work: AbortController | null = null; // a long task beside the page
  #find: Find = async () => null; // what the files on the stage name
  #dressing: (session: Session) => Promise<void> = async () => {}; // puts the body of what is on the stage on its skeleton
  #follower: Follower | null = null;
  #madeHere = new WeakSet<DroppedFile>(); // motions that were put on a skeleton
  readonly kept = new KeptStages();

  constructor(readonly app: App) {}

  /** What is on the stage now. */
  #current(): KeptStage | null {
    const { session, scene, files, history } = this.app;
    return session && { session, scene, files, history, find: this.#find, dressing: this.#dressing, follower: this.#follower };
  }

  /** The stage that was replaced, as it was left. */
  goBack(): void {
    this.#exchange((current) => this.kept.back(current));
  }

  /** And what had replaced it. */
  goForth(): void {
    this.#exchange((current) => this.kept.forth(current));
  }

  #exchange(take: (current: KeptStage) => KeptStage | null): void {
    const current = this.#current();
    const stage = current && take(current);
    if (!stage) {
      return;
    }
    this.begin(); // what goes on for another stage ends
    const { session, scene, files, find, follower, dressing } = stage;
    [this.#find, this.#follower] = [find, follower];
    this.app.show(session, scene, files, stage.history);
    this.#wear(session, dressing);
    const isScene = scene !== null && files.length === 0;
    history.replaceState(null, '', isScene ? addressOf(scene) : location.pathname);
    this.app.notify(`${session.stage.title} is back as you left it.`, true);
  }

  /** A long task begins, with its progress on the page; one that still goes on ends. */
  begin(): Work {
    this.#work?.abort(new DOMException('The task was replaced.', 'AbortError'));
    const work = new AbortController();
    const cancel = () => {
      work.abort(new DOMException('The task was cancelled.', 'AbortError'));
      this.app.notify('Cancelled. Nothing has changed.', true);
    };
    this.#work = work;
    return { signal: work.signal, progress: (what, part) => this.app.notices.progress(what, part, cancel) };
  }

  /** Tell of an error, but not of an end that was asked for. */
  failed(error: unknown): void {
    if (!(error instanceof DOMException && error.name === 'AbortError')) {
      this.app.complain(error instanceof PoiseError ? new Error(plain(error.message), { cause: error }) : error);
    }
  }

  /** What an address asks for: a shared state behind '#', a file of the server, a scene, or the first scene. */
  async open(address: URL): Promise<void> {
    try {
      const file = address.searchParams.get('file');
      if (address.hash.length > 1) {
        await this.#openLink(address.hash.slice(1));
      } else if (file?.startsWith('/')) {
        await this.#openServed(file);
      } else {
        const scene = address.searchParams.get('scene');
        this.openScene(scene ?? FIRST_SCENE);
        if (scene === null && !address.searchParams.has('live')) {
          this.app.invite.show(this.app.viewport.canvas.parentElement!);
        }
      }
      if (address.searchParams.has('live') && !this.app.live) {
        this.app.live = new Live(this.app);
      }
    } catch (error) {
      this.app.complain(error);
    }
  }

  async #openServed(file: string): Promise<void> {
    const response = await fetch(file.split('/').map(encodeURIComponent).join('/'));
    if (!response.ok) {
      throw new Error(`${file}: the server has no such file`);
    }
    const name = file.slice(file.lastIndexOf('/') + 1);
    const find = fromServer(file.slice(0, file.lastIndexOf('/')).split('/').map(encodeURIComponent).join('/'));
    await this.#openFiles(await withIncludes({ name, bytes: new Uint8Array(await response.arrayBuffer()) }, find), find);
  }

  async #openLink(text: string): Promise<void> {
    const { app } = this;
    const shared = await decode(text);
    if (shared.scene || !shared.files) {
      this.openScene(shared.scene ?? FIRST_SCENE);
    }
    if (shared.files) {
      await this.#openFiles(shared.files.map(unpack));
    }
    app.session?.restore(shared.state);
    if (app.session?.motion && !app.session.judged) {
      app.session.judged = shared.doubts ?? null; // else it was judged anew
    }
    app.viewport.handles.rebuild();
    app.selectTarget(shared.state.targets.length > 0 ? 0 : -1);
    app.play(false);
    app.history = new History<Saved | null>(app.session?.save() ?? null);
    app.refresh();
    app.home();
  }

  /** Open a scene as a step that the browser's Back takes back. */
  visit(id: string): void {
    this.openScene(id);
    if (this.app.scene === id) {
      history.pushState(null, '', addressOf(id));
    }
  }

  openScene(id: string): void {
    const { app } = this;
    try {
      this.begin(); // what goes on for another stage ends
      const session = openScene(app.poise, id);
      const before = this.#current();
      this.#follower = null;
      app.show(session, id, []);
      this.#replaced(before);
      this.#wear(session, (made) => this.#dress(made, builtInLooks(id, made.model, made.size()), async () => null));
      app.notify(offers.find((offer) => offer.id === id)?.hint ?? '', true);
    } catch (error) {
      app.complain(error);
    }
  }

  acceptDrops(body: HTMLElement): void {
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

  async openDropped(list: readonly File[]): Promise<void> {
    const { app } = this;
    if (list.length > 0) {
      try {
        app.notify(`Reading ${list.length > 5 ? `${list.length} files` : list.map((file) => file.name).join(', ')} …`);
        const files = await readAll(list);
        await new Promise((done) => setTimeout(done, 30)); // so that the notice is seen
        await this.#openWithMotion(files);
        if (app.files.length > 0 && (location.search || location.hash)) {
          history.pushState(null, '', location.pathname); // the address of the scene before is not that of the file
        }
      } catch (error) {
        app.complain(error);
      }
    }
  }

  /** A skeleton and a motion that has one of its own: the first moves like the second. */
  async #openWithMotion(files: DroppedFile[]): Promise<void> {
    const { app } = this;
    const { motion, skeleton, left } = motionAmong(files);
    const isOpen = await this.#openFiles(skeleton);
    if (!motion || this.#work?.signal.aborted) {
      return;
    }
    if (!isOpen || this.app.session?.stage.file === undefined) { // the skeleton is broken
      await this.#openRest(isOpen, motion, isOpen ? left.map(({ name }) => name) : [...left.map(({ name }) => name), ...unknownAmong(files)]);
      return;
    }
    const { title, file, choices } = app.session!.stage;
    const others = [...(choices?.robots ?? []).filter((name) => name !== choices?.robot && !name.includes('/')), ...left.map(({ name }) => name)];
    if (!(await this.#openFiles([motion]))) {
      return;
    }
    const notOpened = others.length > 0 ? [`Not opened: ${others.join(', ')}. Drop one motion and one skeleton at a time.`] : [];
    if (this.follower) {
      await this.retarget(notOpened);
    } else {
      app.notices.remark(`${file ?? title} cannot move like ${motion.name}, which is shown alone: one of them has too few joints.`, ...notOpened);
    }
  }

  /** What was dropped with a skeleton that cannot be read: a motion, unless a recording is on the stage by now. */
  async #openRest(isOpen: boolean, motion: DroppedFile, left: readonly string[]): Promise<void> {
    const { notices } = this.app;
    const told = notices.words;
    const isShown = !isOpen && (await this.#openFiles([motion]));
    const others = [...(isShown ? [] : [motion.name]), ...left];
    if (isShown || others.length > 0) {
      notices.say([told, ...(isShown ? [`${motion.name} is on the stage alone.`] : []), ...(others.length > 0 ? [`Not opened: ${others.join(', ')}.`] : [])].join('\n'));
    }
  }

  /** Something else of the files on the stage. */
  async choose(wish: Wish): Promise<void> {
    await this.#openFiles(this.#dropped, this.#find, wish);
  }

  /** The files on the stage, without motions of other skeletons that move it. */
  get #dropped(): DroppedFile[] {
    return this.app.files.filter((file) => !this.#madeHere.has(file));
  }

  /** What stood there before and could take over the motion that came: its name. */
  get follower(): string | null {
    return this.#follower?.title ?? null;
  }

  /** Bring that back, moved like what is on the stage; `more` is to be told then. */
  async retarget(more: readonly string[] = []): Promise<void> {
    const { app } = this;
    const [follower, session] = [this.#follower, app.session];
    if (!follower || !session) {
      return;
    }
    try {
      const { table, words, judged } = await retarget(session, follower, this.begin());
      const [motion, skeleton] = [session.stage.title, follower.title].map((name) => name.replace(/\.[^.]*$/, ''));
      const file = { name: `${motion} on ${skeleton}.csv`, bytes: table };
      this.#madeHere.add(file);
      await (follower.scene === null ? this.#openFiles(follower.files, follower.find, follower.wish) : this.openScene(follower.scene));
      if (await this.#openFiles([file], this.#find)) {
        app.session!.judged = judged;
        app.refresh();
      }
      app.notify([words, ...more].join('\n'), judged.verdict === 'good' && more.length === 0);
    } catch (error) {
      this.failed(error);
    }
  }

  /** On failure, which is told, the stage stays as it was. */
  async #openFiles(files: DroppedFile[], find: Find = amongFiles(files), wish: Wish = {}): Promise<boolean> {
    const { app } = this;
    try {
      const { session, notes, onto, robot, meshes, isBuiltIn, isDoubtful } = await openFiles(app.poise, files, app.session, this.begin(), wish);
      const before = this.#current();
      const isAnother = files.some((file) => !app.files.includes(file));
      this.#follower = onto ? null : !isAnother ? this.#follower : followerOf(app.session, session, { scene: app.scene, files: this.#dropped, find: this.#find });
      this.#find = find;
      if (onto) {
        session.coverMeshes = before?.session.coverMeshes ?? null;
      } else if (robot && meshes > 0) {
        session.coverMeshes = async (work) => (await import('./body/mesh_shapes.js')).coverMeshes(app.poise, robot, find, work);
      }
      const { joints, nv } = session.model;
      app.show(session, onto ? app.scene : null, onto ? [...app.files, ...files] : files);
      this.#replaced(before);
      if (notes.length > 0 && !isDoubtful) {
        app.notify(''); // no longer reading
        app.notices.remark(...notes);
      } else {
        app.notify(notes.length > 0 ? notes.join('\n') : `${session.stage.title}: ${counted(joints.length, 'joint')}, ${nv} degree${nv === 1 ? '' : 's'} of freedom${this.follower ? `. The panel can put its motion on ${this.follower}.` : ''}`, notes.length === 0);
      }
      if (isBuiltIn) {
        this.#wear(session, (made) => this.#dress(made, builtInLooks('humanoid', made.model, made.size()), find));
      } else {
        this.#wear(session, onto ? this.#dressing : (made) => this.#dressAs(made, robot, files, find));
      }
      return true;
    } catch (error) {
      this.failed(error);
      return false;
    }
  }

  /** Cover the robot's collision meshes with shapes, if that is still to be done. False: there are none to use. */
  async coverMeshes(session: Session): Promise<boolean> {
    const { app } = this;
    try {
      const found = await session.coverMeshes?.(this.begin());
      if (session !== app.session || !found) {
        return session === app.session;
      }
      const { shapes, excluded, skipped } = found;
      if (!shapes.some(({ body }) => body >= 0)) {
        throw new Error(`${counted(skipped, 'collision mesh', 'collision meshes')} did not come with it, or cannot be read (STL, OBJ and COLLADA can). Drop the whole folder or zip.`);
      }
      session.coverMeshes = null;
      session.bound({ shapes, excluded, shapesSkipped: skipped });
      session.changed();
      app.viewport.setShapes(session);
      const left = skipped > 0 ? ` ${counted(skipped, 'collision mesh', 'collision meshes')} did not come with it, or cannot be read, and ${skipped === 1 ? 'does' : 'do'} not count.` : '';
      app.notify(`${counted(shapes.length, 'capsule or box', 'capsules and boxes')} stand for its collision shapes.${left}`, skipped === 0);
      return true;
    } catch (error) {
      this.failed(error);
      return false;
    }
  }

  #replaced(before: KeptStage | null): void {
    if (before) {
      this.kept.replaced(before);
      this.app.refresh();
    }
  }

  /** Dress a session, and its followers on the same skeleton. */
  #wear(session: Session, dressing: (session: Session) => Promise<void>): void {
    this.#dressing = dressing;
    void dressing(session);
  }

  /** As its file has it; what reads that comes when it is needed. */
  async #dressAs(session: Session, robot: Opened['robot'], files: DroppedFile[], find: Find): Promise<void> {
    if (robot && ['gltf', 'glb'].includes(robot.format)) {
      await this.#dressSkin(session, robot.bytes, find);
    } else if (robot && ['urdf', 'mjcf', 'osim'].includes(robot.format)) {
      const { visualsOf } = await import('./body/gather.js');
      await this.#dress(session, visualsOf(robot.format, robot.bytes, files), find);
    }
  }

  /** The character of a glTF: its meshes follow the nodes that became joints. */
  async #dressSkin(session: Session, bytes: Uint8Array, find: Find): Promise<void> {
    const { app } = this;
    try {
      const [{ parseGltf }, { Character }] = await Promise.all([import('./body/meshes.js'), import('./body/character.js')]);
      const character = new Character(session.model, await parseGltf(bytes, find));
      if (session === app.session && !character.isEmpty) {
        app.viewport.setBody(character);
        app.viewport.dressed(true);
        app.panel.refresh();
      } else {
        character.dispose();
      }
    } catch (error) {
      console.info(error);
      const packed = /DRACOLoader/.test(String(error)) ? 'they are compressed with Draco (KHR_draco_mesh_compression). Export it without compression; the bones work as they are.' : null;
      app.notices.remark(`The meshes of this file cannot be drawn: ${packed ?? (error instanceof Error ? error.message : String(error))}`);
    }
  }

  /** Put shapes on the bodies; meshes come one by one. */
  async #dress(session: Session, visuals: readonly Visual[], find: Find): Promise<void> {
    const { app } = this;
    if (visuals.length === 0 || session !== app.session) {
      return;
    }
    const body = new Body(session.model);
    app.viewport.setBody(body);
    const arrived = () => session === app.session && app.viewport.pieceArrived();
    await body.add(visuals, find, arrived);
    if (session !== app.session) {
      body.dispose();
      return;
    }
    app.viewport.dressed(true);
    app.panel.refresh();
    if (body.missing.length > 0) {
      const first = body.missing[0]!.split('/').at(-1);
      const isOne = body.missing.length === 1;
      const many = isOne ? `The mesh ${first}` : `${body.missing.length} meshes, such as ${first},`;
      const isServed = new URL(location.href).searchParams.has('file');
      const view = session.stage.file && !isServed ? `; or let poise view ${session.stage.file} find ${isOne ? 'it' : 'them'}` : '';
      app.notices.remark(`${many} did not come with ${session.stage.file?.split('/').at(-1) ?? session.stage.title}. Drop the folder or zip that holds both, or select all files together with Open${view}.`);
    }
  }
}
