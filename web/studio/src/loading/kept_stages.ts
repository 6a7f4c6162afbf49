/** Stages that were replaced with work on them: Undo brings the last one back, and Redo what took its place. */
import type { Find } from '../body/named_files.js';
import type { History } from '../history.js';
import type { DroppedFile } from '../open_files.js';
import type { Follower } from '../retargeting/follower.js';
import type { Session } from '../session.js';
import type { Saved } from '../stage.js';

export interface KeptStage {
  session: Session;
  scene: string | null;
  files: DroppedFile[];
  history: History<Saved | null>;
  find: Find;
  dressing: (session: Session) => Promise<void>;
  follower: Follower | null;
}

export class KeptStages {
  #before: KeptStage | null = null;
  #after: KeptStage | null = null;

  get canGoBack(): boolean {
    return this.#before !== null;
  }

  get canGoForth(): boolean {
    return this.#after !== null;
  }

  /** A new stage takes the place of this one, which is kept if something was done on it. */
  replaced(stage: KeptStage): void {
    this.#after?.session.dispose();
    this.#after = null;
    if (stage.history.isEmpty) {
      stage.session.dispose();
    } else {
      this.#before?.session.dispose();
      this.#before = stage;
    }
  }

  /** The stage before, in exchange for the one that is there. */
  back(stage: KeptStage): KeptStage | null {
    const before = this.#before;
    if (before) {
      this.#before = null;
      this.#after = lend(stage, before);
    }
    return before;
  }

  forth(stage: KeptStage): KeptStage | null {
    const after = this.#after;
    if (after) {
      this.#after = null;
      this.#before = lend(stage, after);
    }
    return after;
  }
}

/** The skin of a character went on to the stage that its motion made, and goes back again. */
function lend(from: KeptStage, to: KeptStage): KeptStage {
  if (from.files.length > 0 && to.files.some((file) => from.files.includes(file)) && !to.session.stage.carried) {
    to.session.stage.carried = from.session.stage.carried ?? null;
    from.session.stage.carried = null;
  }
  return from;
}
