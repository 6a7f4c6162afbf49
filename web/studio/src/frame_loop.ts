/** One frame after the other, as long as there is something to do: at rest the page asks for none. */
const LINGER = 400; // milliseconds that go on after the last thing to do: what is shown late comes in them
const LONGEST = 0.1; // seconds that one frame may count for

export class FrameLoop {
  #runs = false;
  #end = 0;
  #last = 0;

  /** `frame` is told the time, and the seconds since the last frame; it says whether there is more to do. */
  constructor(readonly frame: (now: number, seconds: number) => boolean) {}

  /** There is something to do. */
  wake(): void {
    this.#end = performance.now() + LINGER;
    if (!this.#runs) {
      this.#runs = true;
      this.#last = performance.now();
      requestAnimationFrame((now) => this.#next(now));
    }
  }

  get isAtRest(): boolean {
    return !this.#runs;
  }

  #next(now: number): void {
    const seconds = Math.min(LONGEST, Math.max(0, now - this.#last) / 1000);
    this.#last = now;
    if (this.frame(now, seconds)) {
      this.#end = now + LINGER;
    }
    this.#runs = now < this.#end;
    if (this.#runs) {
      requestAnimationFrame((time) => this.#next(time));
    }
  }
}
