// Package disk writes and removes files in folders that others write in too.
//
// Guarantees:
//   - A file is written whole or not at all, and is on the disk when a call that syncs has returned.
//   - A Place writes through no symbolic link and nowhere outside its folder, whatever is exchanged meanwhile.
//   - Removing follows no link: of a link it removes the link.
package disk
