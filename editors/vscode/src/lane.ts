// A lane holds one call at a time: a newer call cancels the one before it, whose answer nobody waits for any more.

export class Lane {
  private current?: AbortController;

  /** `token`, such as a CancellationToken of VS Code, cancels the call as well. */
  async run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.cancel();
    const own = new AbortController();
    this.current = own;
    try {
      return await work(own.signal);
    } finally {
      if (this.current === own) this.current = undefined;
    }
  }

  cancel(): void {
    this.current?.abort();
    this.current = undefined;
  }
}
