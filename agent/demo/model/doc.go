// Package model is the model of the demo agent: an HTTP handler that implements Anthropic's Messages API, needs no
// network, and knows nothing: it plans by rules, from the text of the prompt.
//
// It understands plain requests ("list files", "read X", "write X: text", "run CMD", "explain this project", several
// joined by ", then"), asks for the tools that carry them out, and answers from what the tools really returned. The
// numbers that it reports are counted: tokens are bytes divided by four, cache reads are the part that an earlier
// request began with.
//
// Marks in a prompt control how it answers, for tests and for those who want to see what failures look like:
//
//	#do: STEP ;; STEP   these steps, literally
//	#slow, #slow:5s     wait before the answer
//	#long, #long:500    an answer of so many lines
//	#fast               the whole answer at once
//	#429 #401 #500 #529 refuse with that status; #429x2 only the first two times
//	#limit:61           say that 61 % of a limit of five hours are used
//	#json: VALUE        answer with this JSON value, byte for byte
//	#repaired: VALUE    answer with it to a later prompt that asks to mend what was answered
//	#cut                break off in the middle of the answer; #cutx1 only the first time
//
// It is not a language model and does not pretend to be one when asked. Package scripted reads requests and writes
// answers.
package model
