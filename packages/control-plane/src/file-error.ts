/** Why the operating system refused a file or a folder, without its codes. */
export function fileErrorWords({ code, message, path }: NodeJS.ErrnoException): string {
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return "no space is left on the disk";
    case "EROFS":
      return "the file system is read-only";
    case "EACCES":
    case "EPERM":
      return path === undefined ? "you have no permission" : `you have no permission for ${path}`;
    case "EISDIR":
      return "it is a folder";
    case "ENOTDIR":
      return "part of its path is a file, not a folder";
    default:
      return message;
  }
}
