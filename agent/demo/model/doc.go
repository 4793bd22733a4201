// Package model is the model of the demo agent: an HTTP handler that speaks Anthropic's Messages API, needs no network,
// and knows nothing: it plans by rules, from what the prompt says.
//
// It reads plain requests ("list files", "read X", "write X: text", "run CMD", "explain this project", several joined
// by ", then"), asks for the tools that do them, and answers from what the tools really returned. The numbers that it
// reports are counted: tokens are bytes divided by four, cache reads are what an earlier request began with.
//
// Marks in a prompt control how it answers, for tests and for those who want to see what failures look like:
//
//	#do: STEP ;; STEP   these steps, literally
//	#slow, #slow:5s     wait before the answer
//	#long, #long:500    an answer of so many lines
//	#fast               the whole answer at once
//	#429 #401 #500 #529 refuse with that status; #429x2 only the first two times
//	#cut                break off in the middle of the answer; #cutx1 only the first time
//
// It is no language model and does not pretend to be one when asked. Requests are read and answers written by package
// scripted.
package model
