// Package masks stores what is masked of the threads' conversations, with the contents.
//
// Each thread has a folder: a log, and the outputs, which its agent may read. It guarantees:
//
//   - A batch of masks is durable, also across a power cut, when Add returns. A process that is killed leaves all of a
//     batch or none. What is masked stays so, with the same text, byte for byte; nothing is changed in a log.
//   - The log is the truth: it has the contents too. An output is a copy, one plain file for each content, which is
//     written soon after and not synced. What a crash or the agent did to it is mended when a thread's masks are
//     opened, and when it is read.
//   - A content is what was masked, by its SHA-256, or an error.
//   - A record that is damaged is dropped and reported; the others stay. Damage to the content in a record does not
//     drop its mask: the copy has the content too.
//   - How many records a log has, a sum over them and the mode lie with the thread too. A log that has lost some is
//     noticed when it is opened, and the mode stays what the person set; where that is not known, nothing more is masked.
//   - A fork begins with what its parent has at that moment. It names the parent's outputs, which are kept for as long
//     as a thread needs them.
//   - A token names one content of the store. Two sets of the same thread are the same one. Contents are not kept in
//     memory, and masks only while a set is in use.
//   - No link is followed, and nothing outside the folder is touched.
//
// Only one process may use a folder at a time: the project's server.
//
// Locks, in the order in which they are taken: writer.sweeping (shared by all but Sweep), entry.mu, Set.mu; then
// Store.mu, tokens.mu, writer.mu and copies.mending, each of which is taken last. The goroutine that writes copies ends
// when none is left; Close waits for it.
package masks
