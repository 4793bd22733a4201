package hook

import (
	"errors"
	"io"
	"strconv"
	"syscall"
	"time"
)

const (
	maxPayload = 4 << 20         // of a hook's report
	patience   = 5 * time.Second // for each step of the exchange
)

// Report posts what an agent's hook wrote, and returns once the gateway has received it. It uses no proxy of the
// environment, which would see the secret address.
func Report(base, event string, from io.Reader) error {
	to, err := parse(base)
	if err != nil {
		return err
	}
	payload, err := io.ReadAll(io.LimitReader(from, maxPayload))
	if err != nil {
		return errors.New("read the report: " + err.Error())
	}
	if to.post("/"+escape(event), payload) != nil {
		return errors.New("report " + event + ": the gateway does not answer")
	}
	return nil
}

// post sends a request and waits for the first bytes of the response, whose content does not matter.
func (a address) post(event string, payload []byte) error {
	fd, err := dial(a.port)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	request := "POST " + a.path + event + " HTTP/1.1\r\nHost: 127.0.0.1:" + strconv.Itoa(a.port) +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(payload)) +
		"\r\nConnection: close\r\n\r\n"
	for rest := append([]byte(request), payload...); len(rest) > 0; {
		n, err := again(func() (int, error) { return syscall.Write(fd, rest) })
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	var answer [512]byte
	n, err := again(func() (int, error) { return syscall.Read(fd, answer[:]) })
	if err == nil && n == 0 {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// dial connects to a port of 127.0.0.1.
func dial(port int) (int, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		return 0, err
	}
	limit := syscall.NsecToTimeval(int64(patience))
	for _, option := range []int{syscall.SO_SNDTIMEO, syscall.SO_RCVTIMEO} {
		if err == nil {
			err = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, option, &limit)
		}
	}
	if err == nil {
		err = syscall.Connect(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	}
	if err != nil {
		_ = syscall.Close(fd)
	}
	return fd, err
}

// again retries a system call that was interrupted by a signal, as the runtime does.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
