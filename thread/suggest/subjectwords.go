package suggest

// learnSubjects adds the phrases for changing the subject, for staying with it, and for saying that something still
// fails.
func learnSubjects(l lexicon) {
	l.learn(fails, `
		still fail|fails|failing|broken|the|getting|crash|crashes|crashing|wrong|red|see|happens
		still doesnt|not work|working, still does not work
		same error|problem|failure|issue|crash|thing
		fail|fails|failed|breaks|broke|broken|crashes|crashed again
		again the same
		no change|difference|luck|better
		doesnt|didnt|isnt|not|hasnt work|help|fix|working|helped|worked
		immer noch`)
	l.learn(leaves, `
		^ a|an|completely|totally|entirely? unrelated
		unrelated to|question|note|but|task|thing
		completely|totally|entirely unrelated
		^ a|an|the|my? is|are? a|one? new|next|other|different|separate? task|ticket|topic|thing $
		^ your|our|one|some|there? is|are? a|one? new|next|other|different|separate? task|ticket|topic|thing $
		^ a|an|the|my? is|are? a|one? new|next|other|different|separate? subject|story|issue|problem $
		^ your|our|one|some|there? is|are? a|one? new|next|other|different|separate? subject|story|issue|problem $
		^ a|an|the|my|your|our|one|some|there? is|are? a|one? unrelated|another|side? task|ticket|topic|thing $
		^ a|an|the|my|your|our|one|some|there? is|are? a|one? quick|random|last? task|ticket|topic|thing $
		^ a|an|the|my|your|our|one|some|there? is|are? a|one? unrelated|another|side? subject|story|issue|problem $
		^ a|an|the|my|your|our|one|some|there? is|are? a|one? quick|random|last? subject|story|issue|problem $
		^ a|an|the|my? is|are? a|one? new|next|other|different|separate? project|question|job|item $
		^ your|our|one|some|there? is|are? a|one? new|next|other|different|separate? project|question|job|item $
		^ a|an|the|my? is|are? a|one? new|next|other|different|separate? assignment|request|q|bug $
		^ your|our|one|some|there? is|are? a|one? new|next|other|different|separate? assignment|request|q|bug $
		^ a|an|the|my|your|our|one|some|there? is|are? a|one? unrelated|another|side? project|question|job|item $
		^ a|an|the|my|your|our|one|some|there? is|are? a|one? quick|random|last? project|question|job|item $
		^ a|an|the|my|your|our|one|some|there? is|are? a|one? unrelated|another|side? assignment|request|q|bug $
		^ a|an|the|my|your|our|one|some|there? is|are? a|one? quick|random|last? assignment|request|q|bug $
		^ new|next|other|different|separate|another|side|random|quick topic|subject|question|task|ticket|q
		^ next|new on|up|topic|subject|task|ticket|item
		i|theres have|is|got? another|one more|other? thing|question|task|topic|request|ticket|problem|issue
		i|theres have|is|got? a different|other|quick|new|separate thing|question|task|topic
		i|theres have|is|got? a different|other|quick|new|separate request|ticket|problem|issue
		have|got a|another * question
		one other|another? thing|question|topic|matter|request
		one more thing on
		for|to|with|now|then|on something @very? different|else|new|other
		^ something @very? different|else|new|other
		on a|an different|another|side|unrelated|other|separate note|topic|subject|matter|front
		on another note|topic|subject|matter|front
		^ by the way
		^ btw
		^ off topic
		^ side question|note|topic
		^ sidenote
		switching|switch|changing|change the? gears|topics|topic|subjects|subject|projects
		switching over|back? to the|our|my|another|a
		switch over|back? to another|my|our *
		switch over|back? to the * app|project|repo|side|part|page|site|code|service|team
		moving|move|jumping|jump on|over $
		moving|move|jumping|jump on to
		turning|turn to the|our|my
		going|go on|over to the? next|another|other
		lets|let us? turn|move|go|jump|get on|over|back to
		lets|let us? turn to
		time|can to|we move|switch|turn on|over to
		lets|let us? talk about
		lets|let us? leave|park|pause|shelve * for? now|there|aside|here|at|today
		lets|let us? leave|park|pause|shelve *
		leaving|parking|shelving|pausing|setting * aside|for|here
		leaving|parking this|that
		^ park|shelve|pause this|that|it $
		park|shelve|pause this|that|it for
		enough of|about * for
		enough * for now|today|one|this
		done with * for|here|now|today|and
		thats|that|thatll is|be|ll? it|do|all for? now|today|here? $
		@be good|done|fine|finished for now|today $
		while youre|were|i|you at|here|have|are
		in the meantime
		before i forget
		^ i|almost|nearly forgot
		^ next $
		^ now|then|back to the|our|my
		^ on to the|our|my
		^ as for the|our|my
		one more|other|last topic|matter|request
		different|another|other|separate matter
		shift|turn|turning|shifting our|my|your attention|focus
		pick your brain
		my|our other thing|project|repo|app|site
		now for my|our|the
		what else $
		apart|aside from that|this
		^ separately $
		wrap|wrapping up here|this|that
		for|in a|my|our|the different|other|another|separate|side project|repo|repository|team|company|client
		for|in another project|repo|repository|team
		next topic|subject|task|ticket|up
		ganz was anderes
		anderes thema`)
	l.learn(turns, `
		^ my|our *
		the|our|my * wants|needs|asks|asked|complains|wanted|says|said|starts
		one|some|all of our|my customers|clients|users|colleagues
		^ customers|users|clients|people in|from|see|get|are|report|cant|keep
		the other day
		^ about the|our|my
		^ also|anyway|anyways|oh|ah|hey|meanwhile|so about|another, ^ i also
		^ there is|are|was a|an|one|new, ^ someone|somebody|legal|marketing|support|sales
		my|our colleague|boss|wife|customer|client|laptop|manager|team|friend|husband|son|daughter
		we|i got|have|received a|an email|mail|report|complaint|ticket|call
		a|one user|customer|client|colleague, we|users keep|are getting`)
	l.learn(task, `
		^ write|draft|make|generate|create|prepare|compose|design|build|give|find me? a|an|some|the
		@we|help me? write|draft|prepare|plan|understand|with
		^ fix|debug|write|draft|prepare|translate|convert|set|review|upgrade
		^ migrate|configure|deploy|train|provision|refactor|explain|estimate|recommend|bump|rename
		set up
		help me
		take care of
		have a? look at|into
		look|check into|at|out
		do something about
		do a|an * review|audit|analysis
		i also? need|want|have a|an|to
		can|could|would|will|please you|we also? explain|compare|draft|write|translate|review|check|summarize
		can|could|would|will|please you|we also? help|prepare|convert|tell|recommend|rename|find|look|have
		how do|can|would|should|to i|we|you
		how does|do|did * work
		what do you know|think
		whats|what is? a|an *
		whats|what is? the? difference|best|probability|easiest
		is it true|possible|ok|legal|worth|safe
		^ need|want a|an|some|to
		what time|day|date
		what would|should|do i|you|we pick|recommend|choose|use|prefer
		best practice
		what are|is the|our
		can|could|would you make|calculate|pull|find|give|look|get|work|set
		^ calculate|compute|pull|find|look|list|check
		is|are anyone|there|anybody any|using
		id like to learn|know|understand
		which of our|the|my
		how many|much
		have we got|any`)
	l.learn(leans, `
		thats|those|he|she|same|again|above|previous|previously|earlier|former|latter|continue
		proceed|keep|still|too|instead|rather|both|either|otherwise|undo|revert|redo|because
		actually|wait|hmm|sorry|output|diff|commit|rebase|merge|pr|lint|linter|cleanup
		es|das|diese|dieser|dieses|diesen|nochmal|weiter|auch|bitte|another|other|last
		this $, this !repo|repos|repository|project|week|weekend|month|year|morning|sql|script|list|table
		that $
		that is|was|does|should|can|will|one|way|file|code|function
		that test|bug|error|change|approach|works|in|with|as|and|on|too
		^ yes|no|nope|yeah
		go on, pull request, clean up, what i said, option *
		@we just|already|have|had? did|made|wrote|created|added|changed|mentioned|proposed|suggested|said
		@we just|already|have|had? told|removed|used|built|took|chose|picked|considered|done|doing
		your approach|change|changes|code|fix|test|tests|design|solution|answer|plan|version|last`)
	l.learn(staged, `
		step|phase|part|chunk|point 1|2|3|4|5|6|7|8|9|10|a|b|c|d|one|two|three|four|five
		item|number|stage|milestone|option 1|2|3|4|5|6|7|8|9|10|a|b|c|d|one|two|three|four|five
		the next|first|second|last|other step|phase|part|chunk|point|item|stage|milestone|one`)
	l.learn(refersTo, `it|its|these|their|them|they`)
	l.learn(extends, `
		^ add|allow|support|show|hide|make|limit|let|use|put|include|exclude|handle|move|sort|log|print
		^ send|expose|enable|disable|keep|pin|validate|check|restrict
		^ authenticate|cache|retry|store|save|start|stop|only|now`)
}
