package testpg

import (
	"errors"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// procAttr drops root, which PostgreSQL refuses to run as, and ends the server when the test process dies without cleaning up.
func procAttr() (*syscall.SysProcAttr, error) {
	attr := &syscall.SysProcAttr{
		Setsid:    true, // a Ctrl-C at the terminal is for the tests; they end the server
		Pdeathsig: syscall.SIGQUIT,
	}
	if os.Geteuid() != 0 {
		return attr, nil
	}
	uid, gid, err := ordinaryUser()
	if err != nil {
		return nil, err
	}
	attr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return attr, nil
}

// giveAway makes the server's user the owner of its folder.
func giveAway(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := ordinaryUser()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

func ordinaryUser() (uid, gid int, err error) {
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err = strconv.Atoi(u.Uid)
		if err != nil {
			return 0, 0, err
		}
		gid, err = strconv.Atoi(u.Gid)
		return uid, gid, err
	}
	return 0, 0, errors.New("find an ordinary user to run PostgreSQL as: neither postgres nor nobody exists")
}
