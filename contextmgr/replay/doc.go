// Package replay sends recorded sessions of agents again, through the real policy of masking, and tells what would have
// become of their contexts and costs.
//
// A session is a list of events, whoever recorded it: Read reads them from the format of recorded sessions, a Builder
// makes a Session of them, and Simulate replays a part of it. Contents are not kept: of each event there is a size, and
// what the provider counted of each request makes tokens of the sizes, step by step. The cost model is that of a cache
// of prefixes: what a request has in common with the one before, from its beginning, is read, and all else is written.
//
// Before all items stands the base: what the agent sends before a word is said. A smaller one is smaller in each request,
// and masks are decided for what is then sent.
//
// It does not know what an agent would have done differently with a masked result in front of it. What it tells instead
// is how many files were changed whose last read was masked.
package replay
