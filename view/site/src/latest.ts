// Jobs that take a while, of which only the latest counts.

export class Latest {
  private next: (() => Promise<void>) | null = null;
  private busy = false;

  /** run runs a job, or after the one that is under way, unless there is a later one by then. */
  async run(job: () => Promise<void>): Promise<void> {
    this.next = job;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.next) {
        const now: () => Promise<void> = this.next;
        this.next = null;
        await now();
      }
    } finally {
      this.busy = false;
    }
  }
}
