// The door of every port on which the engine, its language host and a provider serve: callers of the same user get in.
//
// Pulumi's own listener answers everybody on this computer, and asks nobody who they are. Whoever calls it can run any
// program as the person who runs `pulumi up`. rehearsal/tools/doors.py puts this file beside it, and in its place.
package rpcutil

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ownUserOnly gives the connections of a listener that are this user's.
func ownUserOnly(listener net.Listener) net.Listener { return &ownUser{listener} }

type ownUser struct{ net.Listener }

// Accept closes connections of other users, and gives the next one of this user.
func (door *ownUser) Accept() (net.Conn, error) {
	for {
		connection, err := door.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if over, ok := connection.(*net.TCPConn); ok && isOwn(over) {
			return connection, nil
		}
		_ = connection.Close()
	}
}

// isOwn tells whether the other end of a connection belongs to this user, and is open.
//
// The kernel's table of sockets names the user of each (Linux, Documentation/networking/proc_net_tcp.rst). Both ends
// decide: the kernel gives one local port to several connections that go to different places. As long as our end is
// established, no other socket can have the other end's addresses; so our end is asked last.
func isOwn(connection *net.TCPConn) bool {
	local, ok := connection.LocalAddr().(*net.TCPAddr)
	remote, also := connection.RemoteAddr().(*net.TCPAddr)
	if !ok || !also {
		return false
	}
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if user, found := userOf(table, remote, local); found {
			return user == strconv.Itoa(os.Geteuid()) && isEstablished(connection)
		}
	}
	return false
}

const (
	stateOfTable = "01" // TCP_ESTABLISHED, in the table
	established  = 1    // and in tcp_info
)

// userOf gives the user of the socket that is connected from one address to another.
func userOf(table string, from, to *net.TCPAddr) (string, bool) {
	file, err := os.Open(table)
	if err != nil {
		return "", false
	}
	defer file.Close()
	rows := bufio.NewScanner(file)
	for rows.Scan() {
		fields := strings.Fields(rows.Text())
		if len(fields) > 9 && fields[3] == stateOfTable && isAddress(fields[1], from) && isAddress(fields[2], to) {
			return fields[7], true
		}
	}
	return "", false
}

// isAddress compares an address of the table: words of 32 bits in this computer's own order of bytes, and the port.
func isAddress(text string, address *net.TCPAddr) bool {
	digits, port, _ := strings.Cut(text, ":")
	if port != fmt.Sprintf("%04X", address.Port) {
		return false
	}
	var ip net.IP
	for start := 0; start+8 <= len(digits); start += 8 {
		word, err := strconv.ParseUint(digits[start:start+8], 16, 32)
		if err != nil {
			return false
		}
		ip = binary.NativeEndian.AppendUint32(ip, uint32(word))
	}
	return ip.Equal(address.IP)
}

func isEstablished(connection *net.TCPConn) bool {
	raw, err := connection.SyscallConn()
	if err != nil {
		return false
	}
	state := 0
	err = raw.Control(func(descriptor uintptr) {
		// The first byte of struct tcp_info (<linux/tcp.h>) is the state; the call takes four.
		info, failed := syscall.GetsockoptInt(int(descriptor), syscall.IPPROTO_TCP, syscall.TCP_INFO)
		if failed == nil {
			state = int(binary.NativeEndian.AppendUint32(nil, uint32(info))[0])
		}
	})
	return err == nil && state == established
}
