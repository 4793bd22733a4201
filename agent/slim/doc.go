// Package slim is what adapters share to make the base of an agent smaller: which of the chosen levers a start uses, the
// files that make a base larger, and the places where the texts of a first request are divided.
//
// It guarantees that the same names give the same levers in the same order, that a lever without what it needs is not
// used, and that a divided text has every byte of it in its order.
package slim
