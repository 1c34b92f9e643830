// Jobs that take a while, of which only the latest counts.

import { unless, type Wanted } from "./source";

/** A Job asks for what is wanted until another job comes. */
type Job = (wanted: Wanted) => Promise<void>;

export class Latest {
  private next: Job | null = null;
  private busy = false;

  /** run runs a job, or after the one that is under way, unless there is a later one by then. */
  async run(job: Job): Promise<void> {
    this.next = job;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.next) {
        const now: Job = this.next;
        this.next = null;
        await now(unless(() => !!this.next));
      }
    } finally {
      this.busy = false;
    }
  }
}
