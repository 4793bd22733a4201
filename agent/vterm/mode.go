package vterm

// Modes are the modes that a program has switched on: how keys, mouse and paste are encoded and how the screen is
// shown.
type Modes struct {
	AltScreen      bool
	AppCursor      bool
	AppKeypad      bool
	AutoWrap       bool
	Origin         bool
	Insert         bool
	NewLine        bool
	ReverseVideo   bool
	CursorVisible  bool
	CursorBlink    bool
	BracketedPaste bool
	Focus          bool
	Sync           bool // a frame is being drawn: show nothing before it ends
	AltScroll      bool // the wheel sends arrows in the alternate screen
	Graphemes      bool // mode 2027
	ColorScheme    bool // mode 2031: changes between dark and light are reported

	Mouse         MouseMode
	MouseEncoding MouseEncoding
	Kitty         uint8 // kitty keyboard flags in force
	ModifyOther   uint8 // modifyOtherKeys: 0, 1 or 2
}

// MouseMode is the set of mouse events that a program wants.
type MouseMode uint8

// The mouse modes, from none to all.
const (
	MouseNone   MouseMode = iota
	MouseX10              // mode 9: presses only
	MouseNormal           // mode 1000: presses and releases
	MouseButton           // mode 1002: and motion with a button held
	MouseAny              // mode 1003: and all motion
)

// MouseEncoding is the encoding of mouse events.
type MouseEncoding uint8

// The encodings.
const (
	MouseBytes MouseEncoding = iota // CSI M and three bytes
	MouseUTF8                       // mode 1005
	MouseURXVT                      // mode 1015
	MouseSGR                        // mode 1006
)

// modeFlags are mode bits that several DEC modes share in Modes.
type modeFlags struct {
	mouse [5]bool // by MouseMode
	enc   [4]bool // by MouseEncoding
}
