package suggest

// learnApproaches adds the phrases for wanting another approach, and for not wanting one.
func learnApproaches(l lexicon) {
	l.learn(named, `
		try|take|explore|attempt|prefer|pursue|want @thing? in? a|an|some? @very? @very? @new @course
		use|go|consider|build @thing? in|with|for|down? a|an? @very? @new approach|strategy|route|direction|design
		prototype|implement|sketch|do @thing? in|with|for|down? a|an? @very? @new approach|strategy
		prototype|implement|sketch|do @thing? in|with|for|down? a|an? @very? @new route|direction|design
		use|go|consider|build @thing? in|with|for|down? a|an? @very? @new idea|plan|path|tack|angle
		prototype|implement|sketch|do @thing? in|with|for|down? a|an? @very? @new idea|plan|path|tack|angle
		^ @very? another|different|new|other|alternative|fresh approach|strategy|idea|plan|design|direction $
		what|how about a|an @very? @new @course
		^ @take a|an|some? @very? fresh|alternative @course
		@take something @very? else|different|new
		completely|totally|radically @very? different|fresh|new|other|simpler * approach|way|design|solution|idea
		entirely|fundamentally|wholly @very? different|fresh|new|other|simpler * approach|way|design|solution|idea
		completely|totally|radically @very? different|fresh|new|other|simpler @course|look
		entirely|fundamentally|wholly @very? different|fresh|new|other|simpler @course|look
		the? other way a? round|around
		turn|flip|think|look|approach|tackle|attack|solve about|at? @thing|problem around|round|differently|sideways
		let me think about @thing differently
		try|do exactly? just? the opposite|reverse
		pivot|pivoting to
		change|switch|reverse|changing|reversing course|tack|strategy
		change of course|plan|plans|direction|strategy|tack
		propose|suggest something|somewhat @very? else|different|new|other|simpler
		plan b
		@take an alternatives|alternative where|in|with|using|that
		what if we instead
		what if @we? did @thing differently
		what if @we took a|an|another different|other|another?
		as an experiment|alternative|spike try|implement|build|do|rewrite|write|use
		in|as a separate|parallel experiment|attempt
		do an|another experiment|attempt
		replace|swap this|that|our|the current|whole|entire? @work by|with|for
		solve|build|tackle|approach|model rather? @thing with|as
		approach is|was|does|will|would not work|working|going|lead|leading|scale|good|right
		approach doesnt|isnt|wasnt|wont work|working|going|lead|leading|scale|good|right
		approach is|was a? dead|wrong|bad
		go|do|handle|tackle|try|doing|solve about? @thing differently
		go|take a|an|some @very? @new way|turn $
		andere|anderen|anderer|anderes ansatz|weg|lösung|idee`)
	l.learn(afresh, `
		start|starting|begin|build|write|do|redo|rewrite .. from scratch|zero
		rebuild|reimplement|redesign|again|over|this|that|it .. from scratch|zero
		^ from scratch|zero
		from the ground up
		from first principles
		from a clean|blank slate
		start|begin|starting|beginning .. over|again|afresh|anew|fresh $
		start|begin|starting|beginning over|again|afresh|anew|fresh with|using|on|and|but|in|as|here
		clean|blank slate
		square one
		drawing board
		do over
		rewrite|rebuild|reimplement|rearchitect|rethink|redesign @thing $
		redo|rewrite|rebuild @thing with|in|as|on|using|around|so|to|based|via|by|and|from
		reimplement|rearchitect|rethink|redesign @thing with|in|as|on|using|around|so|to|based|via|by|and|from
		redo|rewrite|rebuild|reimplement|rearchitect|rethink|redesign @the whole|entire *
		redo|rewrite|rebuild|reimplement|rearchitect|rethink|redesign @the? * with|around|in|as|on|using
		@the whole|entire @work|analysis once? more? over|again? but? with|in|as|on|using|via
		once? more|again but as|with|in|on|using|this`)
	l.learn(givenUp, `
		@away about? out? @thing $
		@away @thing out|away|overboard $
		do|doing away with
		scratch the|our *
		scratch this|that|it|everything|all
		go|going|lets back to how|what|before|when
		back to the|my|our original|first|old|initial|earlier plan|approach|idea|design|version|solution|way
		roll|rolling back everything|all
		back|backing out of|all|everything|this|that|the|our
		unwind everything|all|this|that
		throw .. in|into the bin|trash
		@away .. again|altogether|entirely|completely $
		bail|bailing on|out
		walk|move|moving|get|getting|step|steer away|off from|of|this|that|the
		pull the plug
		abandon ship
		has|have|must|needs to? go $
		never mind|nevermind @the *
		in favour|favor of
		swap|trade|exchange @the? * .. for
		without a|an|the|any .. at all
		delete|remove our own|old? code|implementation|logic
		@away about? out? @thing and|altogether|entirely|completely|in|since
		@away @thing out|away|overboard and|altogether|entirely|completely
		throw|rip|tear|chuck|kick|toss|yank .. out|away|overboard
		throw|rip|tear|chuck|toss out|away @the? *
		scrap|ditch|axe|abandon @the? *
		^ forget about? @the? *
		lets|can|could|we|just|should forget about? @the? *
		kill|drop the|our|your|this|that * $
		kill|drop the|our|your|this|that * * $
		kill|drop the|our|your|this|that * * and
		kill|drop the|our|your|this|that * for|in|and|altogether|entirely|completely
		kill|drop @the? current|whole|entire|own *
		@less all of? @thing
		undo|revert everything
		delete|remove|cut everything $
		@less the|this|that|our|your * thing|things|stuff
		@less? the|our|your * .. altogether|entirely|completely
		get|getting rid of @thing
		get|getting rid of our|ourselves
		give|giving|gave up $
		give|giving|gave @thing? up on? @the
		do|live without @the *
		dont|not need|want @the? * at all|anymore`)
	l.learn(verdict, `
		too|getting|so|this|overly|becoming|got|pretty|rather|a|bit|really|just|turning @bad
		@be a|an|the|our|becoming? @very? too|so|getting|bit|little|total|complete|plain? @bad
		overkill|overengineered|unmaintainable|unreadable|untenable|hopeless
		over engineered
		feels|felt wrong|off|heavy|clumsy
		wrong tool|layer|abstraction|approach|choice|language|framework|architecture|paradigm
		on|down|up|went|going .. wrong path|track|road|tree|way|direction
		bad|poor|terrible|stupid|unfortunate|dumb|awful idea|choice|decision|approach|fit|move|tool|plan
		dead|wrong end
		cul de sac
		lost|losing cause|battle|game
		rabbit hole
		whack a mole
		band aid|aids
		house of cards
		bottomless *
		painted ourselves
		can of worms
		out of hand|control
		more trouble|pain|work|effort|hassle than
		not|isnt|hardly worth the|all
		no|whats the? point
		sick|tired|weary of, fed up
		had enough
		^ enough $
		regret|regretting|regretted *
		changed my mind
		second thought|thoughts
		thinking about @thing again
		isnt|not|doesnt|arent working|work|going|panning|paying out|anywhere|off
		going|leads|lead|goes|getting us? nowhere
		wont|not|cant|isnt|never|doesnt|dont going? to? cut @thing?
		wont|not|cant|isnt|never|doesnt|dont just? going? to? scale|fly|fit $
		wont|not|cant|isnt|never|doesnt|dont just? going? to? scale|fly
		never|not|isnt going to be|work|get|become|stop
		will|would|ll never|always be|work|break|fail|get|scale|end
		not|isnt|arent acceptable|sustainable|feasible|viable|realistic|tenable|practical|convinced|sold|happy
		isnt|arent|not the right|best way|answer|tool|place|solution|fit|approach|idea
		isnt|arent|not the way|answer|solution $
		dont think .. the|a right|good? way|answer|idea|approach|solution
		dont think .. worth|work|works|working
		dont|didnt really? like|love where|how|this
		dont|didnt really? like|love the|that|our * approach|direction|design|idea|way
		dont|didnt really? like|love the|that|our approach|direction|design|idea|way
		dont see how .. ever|would|will|could|gets|get|can
		dont want to|us .. maintain|own|keep|build|write|fight|carry|run|deal|support|babysit
		dont|stop|quit bother|bothering|fixing|patching|polishing|fighting|tweaking|messing|fiddling|wasting
		reinventing|reimplementing|polishing|papering
		were|we|im are? just|badly|basically|already? rebuilding|fighting|patching|piling|chasing
		we|i|you just? keep|kept|keeps adding|fixing|patching|fighting|chasing|piling|polishing
		fights|fight|fighting us|me
		buys|gives|gains|brings us|me nothing|little
		one too many
		turned|turning|turns into .. own|monster|beast|framework|mess|nightmare|project
		sucks|stinks|hopeless|ugh|yuck
		we|were|im are? stuck
		sunk cost
		makes|making me nervous|uneasy|mad|crazy|sad
		rethink|reconsider
		step back
		might|would|could have been @very? smarter|better|simpler|easier|wiser|cleaner|nicer
		might|would|could|may be? a|the @very? smarter|better|simpler|cleaner|saner|nicer idea|way|route|approach|plan
		might|would|could|may be? a|the @very? smarter|better|simpler design|choice|option|solution|path|fit
		might|would|could|may be? a|the @very? cleaner|saner|nicer design|choice|option|solution|path|fit
		sounds|seems|is|have|had|got a @very? smarter|better|simpler|cleaner|saner|nicer idea|way|route|approach|plan
		sounds|seems|is|have|had|got a @very? smarter|better|simpler design|choice|option|solution|path|fit
		sounds|seems|is|have|had|got a @very? cleaner|saner|nicer design|choice|option|solution|path|fit
		solved by
		a|the|had|have @very? clean|cleaner|better|simpler|saner|smarter idea|way|route|approach|plan
		a crutch
		source of all|this
		too much magic|machinery|ceremony|overhead|complexity|work
		too much code|trouble|indirection|boilerplate|hassle|effort|for
		too many moving|layers|abstractions|special|edge|places
		moving parts
		over the top
		unnecessarily *
		waste of time
		in hindsight
		on reflection
		the more i *
		no longer want|think|believe|like
		not convinced
		not sure about? this|that|the approach|way|direction|design|idea
		^ alternatively
		way|far|much|bit|getting|becoming|just too !@size
		is|are|was|were|gets|its|thats too !@size
		^ too !@size $
		wont|never|not|cant|dont going? to? get us|it|this there|anywhere|right|far
		wont|never|not|cant get .. right|there
		was|is|were always|never going|gonna to *
		was|is|were the|a big? mistake
		were|we|im|am are? slowly|basically|effectively|essentially|really building|writing|inventing|making|becoming
		we|ive|i are|have? gone|going too|way|off *
		every|each fix|change|patch|attempt .. needs|breaks|adds|brings|leads|means|costs|takes
		every|each new .. breaks|break
		doesnt|dont|not fit us|here|our|this, doesnt|dont|wont|not hold|holding up, wont|cant survive *
		outgrown|outgrew
		past|beyond what
		falls|falling apart, brick wall, square peg, the wheel, dead horse
		does|do|doing exactly this|that|what
		not build|write|roll|own|maintain .. ourselves|our
		^ enough of this|that|the
		wrong problem|question
		curing|treating|fighting .. symptoms
		who needs *
		cat and mouse, asking for trouble, time bomb, slippery slope, rube goldberg, yak shaving, code smell
		recipe for *
		overblown|sledgehammer
		needlessly|ridiculously|insanely *
		more than @we need|wanted|bargained
		doesnt|dont feel|sit|look right|well
		not a|much fan|of
		not keen on
		hate|hating this|that|how|where|the|it
		cant stand *
		had it with
		lost|losing|no faith|confidence|patience in|with
		is|are|was killing|driving us|me
		pain in *
		a|such pain|hassle|drag|chore|slog|minefield
		isnt|not great|ideal|optimal
		isnt|not good enough
		not sure .. right|best|worth
		would|might|could be better|easier|simpler|cheaper|safer than
		screw|hang|sod|damn @thing
		^ enough with|of
		cut|cutting our|my losses
		im calling it $
		call|calling it quits
		face|admit it, throw in the towel
		i wonder|doubt if|whether|that we|it|this
		im|i|we starting|beginning|start|begin|started not|to hate|not|dislike|doubt|regret|think
		overcomplicating|overthinking|overengineering|overdoing|overbuilding
		complicating|complicated things|it|this
		i keep|kept thinking|wondering|coming
		ive|been thinking|reading about|that|we|if|of
		not loving|liking|enjoying|convinced
		do|does @we? really|actually|even need|want|have
		why do|are|would @we .. at|even|ourselves|bother
		never|doesnt|dont|didnt|wont|cant help us
		meh|nonsense|rubbish|bonkers
		nope nope|no
		full time job
		hit|hitting|reached .. wall|ceiling
		had its|their|his day
		will|going|gonna|bound to? rot|bite|haunt|explode|backfire|bite
		too many things|ways|ifs|exceptions|steps|services|tools|dependencies
		come|came to think|believe|realize|realise
		im leaning toward|towards
		leaning toward|towards
		not happy with our|the|this|how|where
		slept|sleeping on this|it|that
		decided|agreed against
		are we sure, any reason not|we, get|getting away|by with
		does .. even make sense
		no way .. maintain|keep|scale|ship|work
		more code|work|lines|moving|complexity than
		kludge|kludges|spaghetti|headache|headaches
		new plan $`)
	l.learn(supposed, `
		what if we|you|i|they|the|instead|it|there *
		what about|if @very? @we? just? asking|using|doing|making|letting|moving|having|putting|running
		what about|if @very? @we? just? skipping|dropping|storing|keeping|going|building|writing|sending|generating
		how about @we dont|just|didnt|use|make|let|do|put|go|move
		how about @we skip|drop|store|keep|build|write|try|turn|switch|run|replace
		how about just|not|using|asking|doing|making|letting|moving
		how about having|putting|skipping|dropping|storing|keeping|going|building
		why dont|not|cant @we? just|use|make|let|do|put|go|move|skip|drop|store|build|try|turn|switch|replace
		cant|couldnt|shouldnt @we just|simply|rather
		would|wouldnt it|that|this be .. easier|simpler|better|smarter|cleaner|saner|wiser
		isnt|arent there .. easier|simpler|better|smarter|cleaner|saner way|design|approach|solution
		isnt|arent there .. easier|simpler|better|smarter|cleaner|saner option|method|idea|architecture|model
		what|how about .. for all|everything
		solve|do|solving|doing @thing without
		prefer|rather|have .. over this|that|the
		spare|save|saves|spares|saved us|me|ourselves .. *
		would|could|might solve|avoid|eliminate|replace @thing
		make all|most|everything .. go away
		can|could|would then? go $
		and be? done $
		be done with
		and none|nothing of these|this|that
		id|would much? rather|sooner build|pay|buy|own|maintain|run|use|write|have .. than
		sooner .. than
		would|might|may|could|probably|maybe|far|much be? easier|simpler|quicker to|if|than
		would|might|may|could|probably|maybe|far|much be? cheaper|safer|cleaner|saner to|if|than
		all @we really? need|want is
		better|best off *
		leave @thing to the|a *
		let|have the|a|something|someone * handle|deal|worry
		^ buy *
		lets|and|just|rather|sooner buy *
		lets|and|just|rather|sooner pay *
		take|use|pick|find|try something that|like|existing|else|off
		off the shelf, ready made, third party, existing solution|library|tool|service|product|one
		different|another|other|new|crazy|radical|wild|stupid|alternative thought|idea|suggestion|proposal $
		the simple|simplest|obvious|dumb|boring|stupid thing|way|version|solution|approach|option
		turn|flip|stand @thing on its|the head
		back to a|plain|simple *
		id|i|lets|should|could|would|can say? @we? skip|avoid|bypass|sidestep *
		what about their|the|a|an * .. instead|api|feed|service|library
		no more !than
		could|can|would|will|does .. replace|cover|handle|do all of
		give|giving .. a chance|shot|whirl
		^ simpler|alternatively $
		have @we considered|tried|thought *
		should @we consider|look|try *
		what stops|keeps|prevents us|me *
		opt|opting|settle|settling for
		what about * * .. instead
		no * at all
		what would it take`)
	l.learn(beside, `
		in parallel, ^ on the side, it|this|that on the side
		side by side, as an experiment|alternative, as a spike, proof of concept
		next to this|that one|version
		next|alongside to? the old|current|existing
		so that? @we can compare|pick|choose|decide|see|judge
		to compare
		to see|find out? which|whether
		see|and how|what|whether|if|which .. compares|compare|looks|happens|feels|performs|easier|better|faster|nicer
		a|another|one @new|quick? version|variant of? this|it|that|the? with|in|where|that|using|based|without|on
		a|another|one @new|quick? prototype|alternative|implementation of? this|it|that|the? with|in|where|that
		a|another|one @new|quick? prototype|alternative|implementation of? this|it|that|the? using|based|without|on
		explore|prototype|sketch|consider a|an .. design|approach|architecture|solution|model|variant|version
		look at|into a|an .. design|approach|architecture|solution|model
		prototype|build|sketch a|an|that|this version|variant|alternative
		as a second|different|separate|alternative|competing version|variant|implementation|prototype|attempt`)
	l.learn(removed, `
		get|getting rid of
		remove|delete|undo|revert|drop|skip|stop|kill|cut @the? *
		without|no @the? *
		take|leave out|away
		disable @the *
		turn off @the *
		turn @the * off`)
	l.learn(request, `
		lets|please|maybe|perhaps|pls|plz|prototype|experiment|explore|pivot
		let us|me, id rather|prefer|like|say|go|love|vote|suggest, i would|want|prefer|vote|think|suggest|propose
		we should|could|can|need, wed|id better|rather
		can|could|would|should we|you|i|they|it|the
		@we might|may
		ill|well|were go|use|do|take|have|try|going|using|doing|taking
		then $
		i want|need
		i am|im thinking
		^ @do
		is|isnt|arent there a|an|some|something|anything|any
		would|does|could * do|handle|work|be`)
	l.learn(contrast, `
		instead|altogether|simpler|dumber|plain|plainer|simply|easier|properly
		proper|real|existing|everywhere|ourselves|rather|purely|entirely|boring
		at all, is|are|be enough|plenty|sufficient, good enough
		would do|suffice, be done with, rather than, something like
		for us, for good, and nothing else, nothing but, off the shelf, by hand, based on, experiment with
		from the start|beginning|outset
		give @thing a go|shot|try|whirl|chance
		solve|do|model|attack|implement|cover|replace|handle all of? @thing
		but as a|an
		do|doing|solve|build @thing with|without|in|as|using|via|by|through|on
		just|simply|only use|go|let|make`)
	l.learn(condition, `if the|it|they|tests|that|this|all|any, only if|when, unless *, in case, as soon`)
	l.learn(small, `
		for now, for the moment, the|a last|typo|wording|label|button|icon|font|margin|comment|commit|title
		color|colour|colors|colours|name|names|spelling|typo|wording|tooltip|placeholder|icon
		the|a test $
		just asking|curious, leave it $`)
	l.learn(repair, `
		^ fix|simplify *
		fix|clean|rename|format|tidy|shorten|refactor|simplify|profile|split @the|up|it *`)
	l.learn(asks, `just asking|curious
		^ explain|describe|summarize|summarise|list|document|compare the|this|that|our|your|all
		^ explain|describe|summarize|summarise|list|document|compare it|alternative|possible|both|other|how|why`)
}
