/** What the user takes along: a link, a file, or the goals as part of the motion. */
import type { App } from './app.js';
import { download } from './dom.js';
import { bake, type Baked, hasGoalsToBake } from './baking/bake.js';
import type { Work } from './beside.js';
import type { DroppedFile } from './open_files.js';
import { plain } from './plain_words.js';
import { extensionOf, isOfMarkers, left, save, type SaveKind, skeletonOf } from './saving.js';
import type { Session } from './session.js';
import { encode, MOST_LETTERS, pack } from './share.js';

export class TakeAlong {
  #last: Promise<void> = Promise.resolve(); // of files and bakes, which come one after the other

  constructor(readonly app: App) {}

  async share(): Promise<void> {
    const { app } = this;
    const { session } = app;
    if (!session) {
      return;
    }
    const { doubts } = session;
    const linkTo = (files: readonly DroppedFile[]) =>
      encode({ ...(app.scene ? { scene: app.scene } : {}), ...(files.length > 0 ? { files: files.map(({ name, bytes }) => pack(name, bytes)) } : {}), state: session.save(), ...(doubts ? { doubts } : {}) });
    const whole = await linkTo(app.files);
    const read = app.files.filter(({ name }) => session.stage.read?.includes(name));
    const isCut = whole.length > MOST_LETTERS && read.length < app.files.length;
    const text = isCut ? await linkTo(read) : whole;
    if (text.length > MOST_LETTERS) {
      app.notify(`This is too much for a link (${Math.round(text.length / 1000)} kB; ${MOST_LETTERS / 1000} kB fit). Save it and send the file instead.`);
      return;
    }
    const left = isCut ? ' It leaves out the meshes, which are too much for a link.' : '';
    const link = new URL(location.href);
    link.search = '';
    link.hash = text;
    history.replaceState(null, '', link);
    try {
      await navigator.clipboard.writeText(link.href);
      app.notify(`A link to this scene is in the clipboard and in the address bar.${left}`, true);
    } catch {
      app.notify(`A link to this scene is in the address bar.${left}`, true);
    }
  }

  /** What a file of this kind is called. */
  fileName(kind: SaveKind): string {
    const title = this.app.session?.stage.title ?? '';
    return `${title.replace(/\.[a-z0-9]+$/i, '').replaceAll(/[^\w-]+/g, '-') || 'poise'}.${extensionOf(kind)}`;
  }

  /** The skeleton alone, as poise JSON. */
  saveSkeleton(file: string): void {
    const { session } = this.app;
    if (session) {
      const { postures, title } = session.stage;
      download(file, this.app.poise.write({ ...skeletonOf(session), postures, title }, 'json').bytes, 'application/json');
    }
  }

  /** The problem on the screen as programs. */
  async code(): Promise<void> {
    const { session } = this.app;
    const goals = session?.targets.some(({ enabled }) => enabled);
    if (!goals || session?.mode === 'express' || session?.followMarkers) {
      this.app.notify('Code is there for goals that are met: add a goal, and choose "Meet the goals" as the method.', true);
      return;
    }
    const { codeDialog } = await import('./code/code_dialog.js');
    codeDialog(this.app);
  }

  /** What is on the screen as a file. Goals that act on a motion become part of it: what is seen afterwards is what was saved. */
  export(kind: SaveKind = 'json'): Promise<void> {
    const { session } = this.app;
    return session ? this.#inTurn(session, () => this.#export(session, kind)) : Promise.resolve();
  }

  /** After what goes on, where that leaves the stage as it is. */
  #inTurn(session: Session, task: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(() => (session === this.app.session ? task() : undefined));
    return this.#last;
  }

  async #export(session: Session, kind: SaveKind): Promise<void> {
    const { app } = this;
    const work = app.opener.begin();
    try {
      const baked = isOfMarkers(kind) ? null : await this.#bakeGoals(session, work);
      const file = this.fileName(kind);
      const { bytes, warnings } = await save(session, kind, work);
      download(file, bytes, kind === 'json' ? 'application/json' : undefined);
      const more = kind === 'csv' ? this.#ofTable(session.stage.scale.metres) : ['asf', 'dh'].includes(kind) ? ': the skeleton alone, without the pose on the screen' : '';
      const words = [`Saved ${file}${more}.`, ...warnings.map((w) => plain(w.text))];
      if (kind === 'glb' && session.stage.file && !session.stage.carried && app.viewport.hasBody) {
        words.push('GLB gets the bones only: the shapes and meshes of the robot are not written.');
      }
      if (kind === 'json' && left(session, [kind])) {
        words.push(left(session, [kind]));
      }
      if (baked) {
        words.push(baked.words, 'Undo takes them out again.');
      }
      if (session.byHand) {
        words.push('It holds the motion; the pose that you set by hand is not part of that.');
      }
      app.notify(words.join('\n'), words.length === 1);
    } catch (error) {
      app.opener.failed(error);
    }
  }

  /** What a table of joint values is for. */
  #ofTable(metres: number): string {
    return `: a table for other programs, in radians and ${metres === 1 ? 'metres' : 'the length unit of the skeleton'}; dropped here, it moves this skeleton again`;
  }

  /** Make the goals part of the motion. */
  bake(): Promise<void> {
    const { session } = this.app;
    return session ? this.#inTurn(session, () => this.#bake(session)) : Promise.resolve();
  }

  async #bake(session: Session): Promise<void> {
    const { app } = this;
    try {
      const baked = await this.#bakeGoals(session, app.opener.begin());
      app.notify(baked?.words ?? 'No goal acts on the motion.', !baked?.isDoubtful);
    } catch (error) {
      app.opener.failed(error);
    }
  }

  /** Null: there was nothing to do, or something else is on the stage by now. */
  async #bakeGoals(session: Session, work: Work): Promise<Baked | null> {
    if (!hasGoalsToBake(session)) {
      return null;
    }
    const baked = await bake(session, work);
    if (session !== this.app.session) {
      baked.clip.dispose();
      work.signal.throwIfAborted();
      return null;
    }
    this.#setBaked(baked);
    return baked;
  }

  unbake(): void {
    this.#setBaked(null);
  }

  #setBaked(baked: Baked | null): void {
    this.app.session?.setBaked(baked?.clip ?? null, baked?.judged);
    this.app.viewport.handles.rebuild();
    this.app.commit();
  }
}
