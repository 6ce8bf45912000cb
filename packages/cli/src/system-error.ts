/** Whether the operating system refused something: a file, a folder, a port. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error && "code" in error;
}

/** What the operating system refused, and why, without its codes. */
export function explainSystemError(error: NodeJS.ErrnoException): string {
  const { code, path, message, syscall } = error;
  const named = path === undefined ? "" : ` ${path}`;
  switch (code) {
    case "ENOENT":
      return path === undefined ? message : `there is no ${path}`;
    case "EACCES":
    case "EPERM":
      return path === undefined ? message : `you have no permission for ${path}`;
    case "EEXIST":
      return syscall === "mkdir" && path !== undefined ? `${path} is a file, not a folder` : message;
    case "EROFS":
      return `the file system of${named || " this file"} is read-only`;
    case "ENOSPC":
      return syscall === "watch" ? tooManyWatches("max_user_watches") : "no space is left on the disk";
    case "EMFILE":
      return syscall === "watch" ? tooManyWatches("max_user_instances") : message;
    case "EDQUOT":
      return "no space is left on the disk";
    case "EISDIR":
      return `${path ?? "it"} is a folder, not a file`;
    case "ENOTDIR":
      return `part of the path${named} is a file, not a folder`;
    default:
      return message;
  }
}

function tooManyWatches(limit: string): string {
  return `too many files are watched on this machine: raise fs.inotify.${limit} with sysctl`;
}
