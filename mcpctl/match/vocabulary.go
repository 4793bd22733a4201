package match

import (
	"orchestrator/thread/ground/lexical"
	"strings"
	"sync"
)

// lexicon is what is known of English words in tasks and descriptions of servers. All keys but those of stop are stems.
type lexicon struct {
	stop    map[string]bool     // words that say nothing of what a task is about
	weak    map[string]bool     // stems of words that say little: many servers do that
	related map[string][]string // stems of words for much the same
}

// vocabulary has the lexicon. Most runs of the program need none.
var vocabulary = sync.OnceValue(func() lexicon {
	l := lexicon{stop: map[string]bool{}, weak: map[string]bool{}, related: map[string][]string{}}
	for w := range strings.FieldsSeq(stopWords) {
		l.stop[w] = true
	}
	for w := range strings.FieldsSeq(weakWords) {
		l.weak[lexical.Stem(w)] = true
	}
	for line := range strings.Lines(relatedWords) {
		var group []string
		for w := range strings.FieldsSeq(line) {
			group = append(group, lexical.Stem(w))
		}
		for _, w := range group {
			for _, other := range group {
				if other != w {
					l.related[w] = append(l.related[w], other)
				}
			}
		}
	}
	return l
})

// stopWords say nothing of what a server is for, besides those of any text.
const stopWords = `
above according across again against also although always among another anything away because below best better
between both cannot don done during each either else etc even every everything few further gives good he help her him
his however instead it keep ll look may maybe might mine neither often onto ours possible re same say several shall
she since something soon still their thus together too useful user users ve via we whom yes yet you your yours
mcp model context protocol server servers tool tools provide provides providing enable enables allow allows assistant ai llm
claude agent agents based include includes including support supports require required optional default parameter parameters
return returns
`

const weakWords = `
add analyze analysis answer apply ask build change check collect compare comprehensive complete compute content convert create current data describe detail
detailed determine different display draw ensure example explain explore extract fetch find fix follow full function gather generate handle
idea identify implement important improve include info information input introduce introduction item key last latest learn level list load main manage method
name new next number open order output overview perform plan point prepare present problem process produce project provide pull question quick read recent
recommend relevant report request resource result retrieve review run save select send set show simple specific start state step store
suggest suggestion summarize summary task text time title topic track try type understand update value various version view visit watch work write year
today tomorrow yesterday week month day top best popular multiple single first second three two several available details based
argument array build class code compile component config configuration dependency dev element expression field flag function implement implementation library line local loop
module object option package parse parser pattern private public refactor script standard statement string struct table test unit utility variable warning
`

// relatedWords has a group of words in each line.
const relatedWords = `
browser webpage website site page web
screenshot snapshot capture
click press tap button
image picture photo photograph
icon logo
chart plot graph diagram visualization histogram
slide presentation powerpoint ppt pptx deck
spreadsheet excel xlsx xls worksheet workbook csv
document word docx doc
documentation docs reference manual guide tutorial
folder directory
file path
database db sql table postgresql postgres mysql sqlite
query select statement
ticket issue bug task story
error exception crash failure fault
message dm chat channel conversation
mail email inbox
kubernetes k8s cluster pod kubectl
container docker
deploy deployment rollout release
log logs
repository repo
pull pr merge
commit revision
payment charge pay refund
invoice bill billing
subscription plan
design mockup mock figma
font typography
color colour
search find lookup
fetch download retrieve get
write save store create
delete remove
edit modify change update
summarize summary abstract
translate translation
weather forecast temperature rain
map location place geocode address coordinate
route direction navigation drive
restaurant hotel accommodation homestay lodging stay
flight airline
train railway rail station
ticket booking reservation
stock share equity ticker
price cost quote
currency exchange forex
crypto cryptocurrency bitcoin btc ethereum eth coin token
company firm corporation
news headline article
trend trending hot popular
paper research publication study arxiv
clinical medical disease patient drug health
gene variant mutation protein
video film movie youtube
transcript subtitle caption
music audio song sound
recipe dish meal cook ingredient food
painting artwork museum art
time clock timezone date today tomorrow yesterday tonight now
calendar event meeting schedule appointment
calculate computation arithmetic sum math
random dice
memory remember recall note
todo task plan
shell terminal command bash process
package dependency library npm module
domain whois dns
cloud aws azure gcp
bucket s3 storage
metric monitoring alarm alert dashboard
secret password credential key
test testing e2e
form field input
login sign signin auth authentication
component ui widget element
html css
markdown md
`
