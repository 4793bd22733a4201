// Package input writes keys, mouse, paste and focus as the bytes that a program in a terminal expects,
// according to the modes it has set: legacy, kitty keyboard flags, modifyOtherKeys, the mouse protocols and
// bracketed paste.
//
// It guarantees that what a person pastes cannot end its own bracket or act as keys beyond plain text, and
// that nothing is written that the program did not ask for (no release events, mouse or focus reports
// unless their mode is set). It reads no device and keeps no state.
package input
