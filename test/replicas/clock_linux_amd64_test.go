package replicas

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// startApart starts a process whose whole clock is so far ahead of the machine's
// (less than 0: behind), in whole seconds.
//
// Programs read the time by calling code that the kernel maps into each (vDSO). In
// this process, before its first instruction, that code is exchanged for some that
// asks the kernel, and adds. The program is the one that others run.
func startApart(_ testing.TB, ahead time.Duration) func(*exec.Cmd) error {
	return func(c *exec.Cmd) error {
		runtime.LockOSThread() // only the thread that starts a process traces it
		defer runtime.UnlockOSThread()
		c.SysProcAttr.Ptrace = true
		if err := c.Start(); err != nil {
			return err
		}
		pid := c.Process.Pid
		var status syscall.WaitStatus
		_, err := syscall.Wait4(pid, &status, 0, nil) // it stops where the program begins
		if err == nil {
			err = setApart(pid, ahead)
		}
		if err = errors.Join(err, syscall.PtraceDetach(pid)); err != nil {
			return fmt.Errorf("setting the clock of a process: %w", errors.Join(err, c.Process.Kill(), c.Wait()))
		}
		return nil
	}
}

var vdsoLine = regexp.MustCompile(`(?m)^([0-9a-f]+)-([0-9a-f]+) .*\[vdso\]$`)

// setApart writes into a process that is stopped.
func setApart(pid int, ahead time.Duration) error {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return err
	}
	found := vdsoLine.FindSubmatch(maps)
	if found == nil {
		return errors.New("the kernel maps no vDSO")
	}
	from, err := strconv.ParseUint(string(found[1]), 16, 64)
	if err != nil {
		return err
	}
	to, err := strconv.ParseUint(string(found[2]), 16, 64)
	if err != nil {
		return err
	}
	image := make([]byte, to-from)
	if _, err := syscall.PtracePeekData(pid, uintptr(from), image); err != nil {
		return err
	}
	vdso, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return err
	}
	symbols, err := vdso.DynamicSymbols()
	if err != nil {
		return err
	}
	for _, s := range symbols {
		if s.Name == "__vdso_clock_gettime" {
			_, err := syscall.PtracePokeData(pid, uintptr(from+s.Value), clockGettime(ahead))
			return err
		}
	}
	return errors.New("the vDSO has no clock_gettime")
}

// clockGettime is clock_gettime(2) with the seconds of the real-time clock moved.
func clockGettime(ahead time.Duration) []byte {
	code := []byte{
		0xb8, 0xe4, 0, 0, 0, // mov $SYS_clock_gettime, %eax
		0x0f, 0x05, // syscall
		0x85, 0xff, // test %edi, %edi: CLOCK_REALTIME is 0
		0x75, 0x07, // jne over the next instruction
		0x48, 0x81, 0x06, // addq $ahead, (%rsi): the seconds
	}
	code = binary.LittleEndian.AppendUint32(code, uint32(int32(ahead/time.Second)))
	return append(code, 0xc3) // ret
}
