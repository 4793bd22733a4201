// Package model is a model server for tests: it speaks Anthropic Messages, OpenAI Responses and Chat Completions, and
// Gemini, streamed and whole, on a loopback port, and answers by a script. Package scripted reads its requests and
// writes its answers.
//
// The script is written into the prompts themselves, so that any agent can be driven by what is typed into it:
//
//	fix it #bash:ls -la #write:a.txt=hello #say:done
//
// Each model request of a turn takes the next step: a tool call for #bash, #read and #write, with the names and
// arguments of whatever tools the agent offers, the answer for #say. Markers:
//
//	#say:TEXT          answer with TEXT; ends the turn
//	#bash:COMMAND      call the agent's shell tool
//	#read:PATH         call the agent's tool for reading files, or the shell where it has none
//	#write:PATH=TEXT   call the agent's tool for writing files, or the shell where it has none
//	#think:TEXT        think before the next step's answer, where the wire has thinking
//	#big:N             answer with N bytes
//	#usage:I,R,W,O     count the next step as I fresh, R cache-read, W cache-written and O output tokens
//	#status:CODExN     fail the first N attempts of the next step with an HTTP status
//	#cut               break the connection in the middle of the next step's answer
//	#page              answer every attempt at the next step with a web page
//	#flagged           the provider's safety check finds the next step's calls dangerous
//	#unchecked         it says nothing about them, as behind a gateway that does not pass the check through
//	#hold:NAME         stop in the middle of the next step's answer until Release(NAME)
//	#with              make the next call in the same answer as the last one
//	#escalate          ask for the shell to run outside the sandbox, where the agent has that
//
// A marker's value ends before the next marker or at the end of the line. A prompt without markers is answered with
// "answer to: PROMPT". A Script given to New replaces the markers.
//
// Every request is recorded whole. The server checks no credentials, sends nothing anywhere, and is less strict than
// any provider.
package model
