// Package disk writes and removes files in folders that others write in too.
//
// Guarantees:
//   - A file is written completely or not at all, and is on disk when a call that syncs has returned.
//   - A Place writes through no symbolic link and nowhere outside its folder, whatever is replaced meanwhile.
//   - Removing follows no link: of a link it removes the link.
//
// Package atomicfile does not write a Place's files: they are of the person, get the permissions that their umask gives,
// and one that a crash left incomplete is known by the name of the file, so that the next attempt replaces it.
package disk
