package suggest

// classes are sets of words that phrases refer to by @.
var classes = map[string]string{
	"thing": "this that it everything all things",
	"the":   "the this that our your my these those all any",
	"course": `approach way strategy route direction design solution idea plan path track tack angle option alternative
		implementation version variant model architecture concept take method setup structure`,
	"work": `approach attempt design code tool idea plan solution strategy route direction rewrite thing stuff
		implementation architecture system pipeline module version lot branch`,
	"new":  `another different new alternative alternate other fresh second simpler parallel competing separate`,
	"very": `completely totally entirely very whole wholly radically fundamentally quite much far way really just all`,
	"take": `try trying take explore use attempt go consider pursue prefer want build prototype implement sketch need`,
	"do": `use do go build make write try switch rewrite replace swap embed wrap put generate implement model move
		redo take start let base rely run render print serve mock poll store compile convert port hook stick
		define cover buy host call reuse adopt outsource delegate turn send show ask tell set give split compute
		pull fetch merge push emit publish subscribe calculate count`,
	"away": `scrap ditch abandon discard rip tear throw chuck toss drop bin nuke forget kill dump axe lose trash yank`,
	"less": "remove delete undo revert cut strip take skip stop reverse",
	"be":   `is are was were isnt arent wasnt be been being becoming became gets get getting got seems feels looks`,
	"bad": `hacky messy complicated complex convoluted brittle fragile clumsy unreadable unmaintainable silly stupid
		overkill overengineered bloated painful nightmare hopeless pointless insane ridiculous absurd crazy mess
		clunky horrible fiddly cumbersome unwieldy elaborate clever tangled naive whack nonsense rubbish garbage
		bonkers nuts lame crap moot wasteful primitive flimsy shaky rickety doomed laughable opaque unmanageable
		untenable unsustainable`,
	"we": "we you i they",
	"size": `slow fast long short big small wide narrow tall high low late early many few much little large tight loud
		bright dark quiet generic similar aggressive fuzzy strict lenient soon close far old new often bad hard
		easy near thin thick light soft sharp deep shallow hot cold verbose noisy chatty broad general specific
		vague hasty quick good true`,
}
