// Slow jobs: only the latest one counts.

import { unless, type Wanted } from "./source";

/** A Job asks for data as long as it is wanted: until another job comes. */
type Job = (wanted: Wanted) => Promise<void>;

export class Latest {
  private next: Job | null = null;
  private busy = false;

  /** run runs a job. If one is running, the new one starts after it, unless a later one has come by then. */
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
