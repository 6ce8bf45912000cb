/**
 * The longest turn of the event loop while work is done, in milliseconds of this thread's own CPU
 * time: how busy the machine is otherwise does not count.
 */
export async function longestTurn(work: () => unknown): Promise<number> {
  let longest = 0;
  let last = cpuTime();
  const look = () => {
    const now = cpuTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  let next = setImmediate(function tick() {
    look();
    next = setImmediate(tick);
  });
  try {
    await work();
    look();
  } finally {
    clearImmediate(next);
  }
  return longest;
}

function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
