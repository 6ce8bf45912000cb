// Imports a module once and prints what that took over the bare process. Plain JavaScript, so that nothing is loaded to read it.
const before = process.memoryUsage.rss();
const cpu = process.cpuUsage();
const began = performance.now();
await import(process.argv[2]);
const wallMs = performance.now() - began;
const { user, system } = process.cpuUsage(cpu);
const memory = process.memoryUsage.rss() - before;
process.stdout.write(JSON.stringify({ wallMs, cpuMs: (user + system) / 1_000, memory }));
