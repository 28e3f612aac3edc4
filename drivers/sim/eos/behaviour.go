package eos

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirfabric/weir/drivers/sim"
	"github.com/weirfabric/weir/intent/qos"
)

// What the lab assumes where no source says what the device does.
const (
	headroomPer100G = 64 * 1000 // bytes of a lossless priority group that no MMU profile sizes; Habana's guide counts about 64 kB
	segment         = 256       // bytes of a "segment" of buffer
	cell            = 254       // bytes of a "cell"; Habana's guide for 7060X
)

// defaultTC is the traffic class of a DSCP that no line maps, by its upper three bits. Only a third party quotes this table
// from Arista's manual: it is not verified, and nothing outside the lab may depend on it.
func defaultTC(dscp int) int { return [8]int{1, 0, 2, 3, 4, 5, 6, 7}[dscp>>3] }

// defaultCosTC is the same of a CoS, and as little verified.
func defaultCosTC(cos int) int { return [8]int{1, 0, 2, 3, 4, 5, 6, 7}[cos] }

// isDefault says whether a line maps what is mapped so anyway, or leaves a priority lossy. The device prints no such line.
func isDefault(text string) bool {
	if strings.HasPrefix(text, "priority-flow-control priority ") {
		return strings.HasSuffix(text, " drop")
	}
	from, to := int(number(word(text, 3))), word(text, 6) // qos map KIND N to TARGET M
	if !strings.HasPrefix(text, "qos map ") || word(text, 7) != "" {
		return false
	}
	switch word(text, 2) {
	case "dscp":
		return to == strconv.Itoa(defaultTC(from))
	case "cos":
		return to == strconv.Itoa(defaultCosTC(from))
	default:
		return word(text, 5) == "tx-queue" && to == strconv.Itoa(from)
	}
}

// settings are the lines of an interface, with those of its service profile behind them.
type settings []*node

func settingsOf(config *node, port string) settings {
	own := config.find("interface " + port)
	if name, ok := own.value("service-profile"); ok {
		return settings{own, config.find("qos profile " + name)}
	}
	return settings{own}
}

// value is that of the nearest line with the key; a "no" line has none.
func (s settings) value(key string) (string, bool) {
	for _, n := range s {
		if l := n.find(key); l != nil {
			return n.value(key)
		}
	}
	return "", false
}

// has says whether a line of that key, not negated, is nearest.
func (s settings) has(key string) bool {
	_, ok := s.value(key)
	return ok
}

// queue is the lines of a queue, by whichever name its kind of ASIC has for it.
func (s settings) queue(q int) settings {
	var out settings
	for _, n := range s {
		for _, word := range []string{"uc-tx-queue", "tx-queue"} {
			if l := n.find(word + " " + strconv.Itoa(q)); l != nil {
				out = append(out, l)
			}
		}
	}
	return out
}

// trafficClasses is the traffic class of every DSCP.
func trafficClasses(config *node) [64]int {
	var tc [64]int
	for dscp := range tc {
		tc[dscp] = defaultTC(dscp)
		if v, ok := config.value(fmt.Sprintf("qos map dscp %d", dscp)); ok {
			tc[dscp] = int(number(word(v, 2))) // to traffic-class N
		}
	}
	return tc
}

// behaviour is what a configuration makes the hardware do.
func behaviour(spec sim.Spec, config *node) sim.Behaviour {
	b := sim.Behaviour{Ports: map[string]sim.PortBehaviour{}}
	for dscp, tc := range trafficClasses(config) {
		b.Classify[dscp] = qos.Priority(tc)
	}
	for _, p := range spec.Ports {
		b.Ports[p.Name] = port(config, p)
	}
	return b
}

func port(config *node, p sim.PortSpec) sim.PortBehaviour {
	s := settingsOf(config, p.Name)
	b := sim.PortBehaviour{Up: !s.has("shutdown"), MTU: 1500}
	if v, ok := s.value("mtu"); ok {
		b.MTU = qos.Bytes(number(v))
	}
	if s.has("priority-flow-control") && !config.has("priority-flow-control all off") {
		for q := range qos.Priority(8) {
			if v, _ := s.value(fmt.Sprintf("priority-flow-control priority %d", q)); v == "no-drop" {
				b.PFC |= qos.Priorities(q)
			}
		}
	} else {
		// A port with PFC ignores 802.3x (Arista's manual, "DCBX and flow control").
		send, _ := s.value("flowcontrol send")
		receive, _ := s.value("flowcontrol receive")
		b.FlowControl = send == "on" || receive == "on"
	}
	if w := watchdog(config, s); w != nil {
		b.Watched, b.Watchdog = b.PFC, *w
	}
	for q := range 8 {
		b.Queues[q] = queue(s.queue(q), p.Speed)
		b.Headroom[q], b.Alpha[q] = group(config, q)
		if b.Headroom[q] == 0 && b.PFC.Has(qos.Priority(q)) {
			b.Headroom[q] = qos.Bytes(headroomPer100G * int64(p.Speed) / 100e9)
		}
	}
	return b
}

// has says whether a line of that key is there.
func (n *node) has(key string) bool { return n.find(key) != nil }

// queue reads how a queue shares the port and marks. Queues are strict unless "no priority" says otherwise.
func queue(s settings, speed qos.Rate) sim.QueueBehaviour {
	b := sim.QueueBehaviour{Strict: true}
	for _, n := range s {
		if l := n.find("priority"); l != nil {
			b.Strict = l.text == "priority strict"
			break
		}
	}
	if v, ok := s.value("bandwidth percent"); ok {
		b.Weight = number(v)
	}
	if v, ok := s.value("random-detect ecn"); ok {
		// minimum-threshold N UNIT maximum-threshold N UNIT max-mark-probability N
		b.WRED = &qos.WRED{
			Min:         size(word(v, 1), word(v, 2), speed),
			Max:         size(word(v, 4), word(v, 5), speed),
			Probability: qos.Percent(number(word(v, 7))),
			ECN:         true,
		}
	}
	return b
}

// size is a number with a unit of thresholds in bytes.
func size(n, unit string, speed qos.Rate) qos.Bytes {
	scale := map[string]float64{
		"bytes": 1, "kbytes": 1e3, "mbytes": 1e6, "segments": segment, "cells": cell, "milliseconds": float64(speed) / 8 / 1e3,
	}
	return qos.Bytes(number(n) * scale[unit])
}

// group reads headroom and dynamic threshold of a priority group from the MMU profile that is applied, if one is.
func group(config *node, group int) (headroom qos.Bytes, alpha qos.AlphaShift) {
	for _, l := range config.lines {
		if !strings.HasPrefix(l.key, "platform trident mmu queue profile ") || !config.has(l.key+" apply") {
			continue
		}
		if v, ok := l.value("ingress headroom"); ok {
			unit, n := "bytes", v
			if first, rest, two := strings.Cut(v, " "); two {
				unit, n = first, rest
			}
			headroom = size(n, unit, 0)
		}
		v, ok := l.value(fmt.Sprintf("ingress priority-group %d threshold", group))
		if !ok {
			v, ok = l.value("ingress threshold")
		}
		if ok {
			alpha = alphaOf(v)
		}
	}
	return headroom, alpha
}

// alphaOf reads 1/8, 1 or 8.
func alphaOf(s string) qos.AlphaShift {
	for n := qos.AlphaShift(-7); n <= 3; n++ {
		if n.String() == s {
			return n
		}
	}
	return 0
}

// watchdog is that of a port: it needs the global timeout, and a line on the port or in its profile.
func watchdog(config *node, s settings) *qos.Watchdog {
	const global = "priority-flow-control pause watchdog "
	timeout, ok := config.value(global + "default timeout")
	if !ok || !s.has("priority-flow-control pause watchdog") {
		return nil
	}
	w := &qos.Watchdog{Detection: seconds(timeout), Action: qos.Drop}
	w.Restoration, w.Poll = w.Detection, w.Detection/2
	if v, ok := config.value(global + "default recovery-time"); ok {
		w.Restoration = seconds(v)
	}
	if v, ok := config.value(global + "default polling-interval"); ok {
		w.Poll = seconds(v)
	}
	action, _ := config.value(global + "action")
	if v, ok := s.value("priority-flow-control pause watchdog port action"); ok {
		action = v
	}
	switch action {
	case "no-drop":
		w.Action = qos.Forward
	case "notify-only":
		w.Action = qos.Alert
	}
	if v, ok := s.value("priority-flow-control pause watchdog port timer"); ok {
		// timeout N polling-interval N recovery-time N
		w.Detection, w.Restoration = seconds(word(v, 1)), seconds(word(v, 5))
		w.Poll = w.Detection / 2
		if interval := word(v, 3); interval != "auto" {
			w.Poll = seconds(interval)
		}
	}
	return w
}

// seconds reads a decimal number of seconds.
func seconds(s string) time.Duration { return time.Duration(number(s) * float64(time.Second)) }

// word is the nth word of a text, counted from 0, or empty.
func word(s string, n int) string {
	if words := strings.Fields(s); n < len(words) {
		return words[n]
	}
	return ""
}
