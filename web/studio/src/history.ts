/** Undo and redo over snapshots. */
export class History<State> {
  #past: State[] = [];
  #future: State[] = [];

  /** How many steps are kept. */
  static readonly MOST = 200;

  constructor(private present: State) {}

  /** Something was done: this is how things are now. */
  push(state: State): void {
    if (JSON.stringify(state) === JSON.stringify(this.present)) {
      return;
    }
    this.#past.push(this.present);
    if (this.#past.length > History.MOST) {
      this.#past.shift();
    }
    this.present = state;
    this.#future = [];
  }

  undo(): State | null {
    const before = this.#past.pop();
    if (before === undefined) {
      return null;
    }
    this.#future.push(this.present);
    this.present = before;
    return before;
  }

  redo(): State | null {
    const after = this.#future.pop();
    if (after === undefined) {
      return null;
    }
    this.#past.push(this.present);
    this.present = after;
    return after;
  }

  /** Nothing was done yet, or all of it undone and forgotten. */
  get isEmpty(): boolean {
    return !this.canUndo && !this.canRedo;
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }
}
