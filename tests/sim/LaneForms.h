// tests/sim/LaneForms.h -- forms of instructions that map registers to registers: each is run on 1024 tuples of values, edges
// and random ones, and compared with a reference beside it and with what an H200 gave.
//
// Here:      Form, the kernel that runs one, the values, checkForms().
// Not here:  the forms (IntegerTest.cpp and its neighbours); how the file of recorded results came to be (tools/record_forms.py).
// A form:    text with registers %d, %e (results) and %a, %b, %c, %x, %y (sources); `registers` gives their bits and what values
//            they take, "d32 a32 b1 c16h": 1 is a predicate; kinds are integers (none), f (f32), l (f64), h (f16), g (bf16),
//            H and G (pairs of those), s (shift amounts and other small numbers).
// Invariant: values depend on the text of the form and the names of its registers only, so a recorded result stays right.
#pragma once
#include "tests/sim/SimRun.h"
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>

namespace tiletwin::sim {

/// One lane's registers; results are truncated to their size before they are compared.
struct Lane {
  uint64_t a = 0, b = 0, c = 0, x = 0, y = 0, d = 0, e = 0;
};

struct Form {
  std::string text, registers;
  std::function<void(Lane&)> expect;
};

inline constexpr size_t kFormLanes = 1024;

struct FormRegister {
  char name = 0, kind = 0;
  int bits = 0;
  bool isResult() const { return name == 'd' || name == 'e'; }
  uint64_t& of(Lane& lane) const {
    switch (name) {
    case 'a': return lane.a;
    case 'b': return lane.b;
    case 'c': return lane.c;
    case 'x': return lane.x;
    case 'y': return lane.y;
    case 'd': return lane.d;
    default: return lane.e;
    }
  }
  uint64_t mask() const { return bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }
};

inline std::vector<FormRegister> registersOf(const Form& form) {
  std::vector<FormRegister> result;
  std::istringstream words(form.registers);
  for (std::string word; words >> word;) {
    FormRegister r;
    r.name = word[0];
    r.bits = std::atoi(word.c_str() + 1);
    if (const char last = word.back(); last < '0' || last > '9') r.kind = last;
    result.push_back(r);
  }
  return result;
}

// ---- Values ------------------------------------------------------------------------------------------------------------------

class FormRandom {
public:
  explicit FormRandom(std::string_view seed) {
    for (const char c : seed) state_ = (state_ ^ uint8_t(c)) * 0x100000001B3u;
  }
  uint64_t operator()() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }

private:
  uint64_t state_ = 0xCBF29CE484222325u;
};

inline const std::vector<uint64_t>& edgesOf(char kind) {
  static const std::map<char, std::vector<uint64_t>> edges = {
      {0,
       {0,
        1,
        2,
        3,
        7,
        8,
        31,
        32,
        33,
        127,
        128,
        255,
        0x7FFF,
        0x8000,
        0x8001,
        0xFFFF,
        0x10000,
        0x7FFFFFFF,
        0x80000000,
        0x80000001,
        0xFFFFFFFF,
        0x100000000,
        0x7FFFFFFFFFFFFFFF,
        0x8000000000000000,
        ~uint64_t(0),
        ~uint64_t(1)}},
      {'s', {0,  1,  2,  7,  8,  15,  16,  17,  24,  30,  31,         32,        33,
             40, 62, 63, 64, 65, 127, 128, 255, 256, 257, 0x80000000, 0xFFFFFFFF}},
      {'f', {0,          0x80000000, 1,          0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000,
             0x80800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x40000000, 0xC0000000, 0x7F7FFFFF,
             0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0x7FFFFFFF}},
      {'l',
       {0, 0x8000000000000000, 1, 0x8000000000000001, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x8010000000000000,
        0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001, 0x4000000000000000, 0x7FEFFFFFFFFFFFFF,
        0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000000, 0x7FF0000000000001}},
      {'h', {0,      0x8000, 1,      0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x3C00, 0xBC00,
             0x3C01, 0x4000, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00, 0xFE00, 0x7C01, 0x7FFF}},
      {'g', {0,      0x8000, 1,      0x8001, 0x007F, 0x807F, 0x0080, 0x8080, 0x3F80, 0xBF80,
             0x3F81, 0x4000, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0xFFC0, 0x7F81, 0x7FFF}},
  };
  return edges.at(kind);
}

/// Value i of a register. The first sources' edges meet each other; later values are random, small ones and equal ones often.
inline uint64_t formValue(const FormRegister& r, size_t place, size_t i, FormRandom& random) {
  if (r.bits == 1) return random() & 1;
  if (r.kind == 'H' || r.kind == 'G') {
    FormRegister half = r;
    half.kind = char(r.kind - 'A' + 'a');
    const uint64_t low = formValue(half, place, i, random), high = formValue(half, 2, i, random);
    return high << 16 | low;
  }
  const std::vector<uint64_t>& edges = edgesOf(r.kind);
  const size_t meeting = i < 676 ? (place == 0   ? i % edges.size()
                                    : place == 1 ? i / 26 % edges.size()
                                                 : edges.size())
                                 : edges.size();
  const uint64_t pick = random(), bits = random();
  const uint64_t mask = r.kind == 'h' || r.kind == 'g' ? 0xFFFF : r.mask();
  if (meeting < edges.size()) return edges[meeting] & mask;
  if (pick % 4 == 0) return edges[pick / 4 % edges.size()] & mask;
  if (r.kind == 's' && pick % 4 != 1) return bits % 70;
  return (pick % 4 == 1 ? bits : bits >> (pick / 4 % 64)) & mask;
}

/// The sources of every lane; the results are 0.
inline std::vector<Lane> formLanes(const Form& form) {
  std::vector<Lane> lanes(kFormLanes);
  size_t place = 0;
  for (const FormRegister& r : registersOf(form)) {
    if (r.isResult()) continue;
    FormRandom random(form.text + r.name);
    for (size_t i = 0; i < kFormLanes; ++i) r.of(lanes[i]) = formValue(r, place, i, random);
    ++place;
  }
  return lanes;
}

// ---- Kernels -----------------------------------------------------------------------------------------------------------------

/// An entry that reads sources and writes results as arrays of 1024 words of 8 bytes, one behind the other. `guarded`: only odd
/// lanes run the form, and results hold 0x5A... (predicates: 0) before.
inline std::string formEntry(const Form& form, const std::string& name, bool guarded) {
  std::ostringstream load, store, declare, before;
  int sources = 0, results = 0;
  for (const FormRegister& r : registersOf(form)) {
    const std::string type = r.bits == 1 ? ".pred" : ".b" + std::to_string(r.bits);
    declare << ".reg " << type << " %" << r.name << ";\n";
    const int offset = 8 * int(kFormLanes) * (r.isResult() ? results++ : sources++);
    if (!r.isResult() && r.bits == 1)
      load << "ld.global.b32 %t, [%in+" << offset << "];\nsetp.ne.b32 %" << r.name << ", %t, 0;\n";
    else if (!r.isResult())
      load << "ld.global" << type << " %" << r.name << ", [%in+" << offset << "];\n";
    else if (r.bits == 1)
      before << "setp.ne.b32 %" << r.name << ", 0, 0;\n",
          store << "selp.b32 %t, 1, 0, %" << r.name << ";\nst.global.b32 [%out+" << offset << "], %t;\n";
    else
      before << (r.bits == 8 ? "cvt.u8.u32" : "mov" + type) << " %" << r.name << ", "
             << (0x5A5A5A5A5A5A5A5Au & r.mask()) << ";\n",
          store << "st.global" << type << " [%out+" << offset << "], %" << r.name << ";\n";
  }
  std::string text = form.text;
  if (guarded) {
    text = "@%g " + text;
    for (size_t at = 0; (at = text.find("; ", at)) != std::string::npos; at += 2) text.insert(at + 2, "@%g ");
  }
  std::ostringstream entry;
  entry << ".visible .entry " << name
        << "(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %i, %t;\n.reg .b64 %in, %out, %at;\n"
        << ".reg .pred %g;\n"
        << declare.str() << "ld.param.u64 %in, [in];\nld.param.u64 %out, [out];\nmov.u32 %i, %tid.x;\n"
        << "mov.u32 %t, %ctaid.x;\nmad.lo.u32 %i, %t, 256, %i;\nmul.wide.u32 %at, %i, 8;\nadd.u64 %in, %in, %at;\n"
        << "add.u64 %out, %out, %at;\nand.b32 %t, %i, 1;\nsetp.ne.u32 %g, %t, 0;\n"
        << load.str() << (guarded ? before.str() : "") << text << "\n"
        << store.str() << "ret;\n}\n";
  return entry.str();
}

/// The sources as the entry wants them.
inline std::vector<uint64_t> formSources(const Form& form) {
  std::vector<Lane> lanes = formLanes(form);
  std::vector<uint64_t> words;
  for (const FormRegister& r : registersOf(form))
    if (!r.isResult())
      for (Lane& lane : lanes) words.push_back(r.of(lane));
  if (words.empty()) words.resize(kFormLanes);
  return words;
}

/// The results, as the entry writes them.
inline std::vector<uint64_t> runForm(const Form& form, bool guarded) {
  SimRun run(ptxHeader() + formEntry(form, "form", guarded));
  std::vector<uint64_t> sources = formSources(form), results;
  for (const FormRegister& r : registersOf(form))
    if (r.isResult()) results.resize(results.size() + kFormLanes);
  run.buffer(sources, true).buffer(results);
  const Result r = run.launch(4, 256);
  if (r.trap) throw std::runtime_error(form.text + ": " + r.trap.message);
  return results;
}

inline uint64_t formHash(const std::vector<uint64_t>& words) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const uint64_t word : words)
    for (int i = 0; i < 64; i += 8) hash = (hash ^ (word >> i & 0xFF)) * 0x100000001B3u;
  return hash;
}

/// tests/data/sim/forms_h200.txt: "hash text" a line.
inline const std::map<std::string, uint64_t>& recordedForms() {
  static const std::map<std::string, uint64_t> recorded = [] {
    std::map<std::string, uint64_t> result;
    std::ifstream file(TILETWIN_TEST_DATA "/sim/forms_h200.txt");
    std::string hash, text;
    while (file >> hash && std::getline(file >> std::ws, text)) result[text] = std::stoull(hash, nullptr, 16);
    return result;
  }();
  return recorded;
}

/// Writes the forms as a module and their sources into $WRITE_FORMS, for tools/record_forms.py.
inline void writeForms(const std::vector<Form>& forms, const std::string& family) {
  const char* folder = std::getenv("WRITE_FORMS");
  if (!folder) return;
  const std::string base = std::string(folder) + "/" + family;
  std::ofstream ptx(base + ".ptx"), list(base + ".txt"), values(base + ".bin", std::ios::binary);
  ptx << ptxHeader("sm_90a", "8.7");
  for (size_t i = 0; i < forms.size(); ++i) {
    const std::vector<uint64_t> sources = formSources(forms[i]);
    size_t results = 0;
    for (const FormRegister& r : registersOf(forms[i])) results += r.isResult();
    ptx << formEntry(forms[i], "form" + std::to_string(i), false);
    list << "form" << i << ' ' << sources.size() << ' ' << results * kFormLanes << ' ' << forms[i].text << '\n';
    values.write(reinterpret_cast<const char*>(sources.data()), std::streamsize(sources.size() * 8));
  }
}

/// Runs every form, with all lanes and with every other one.
inline void checkForms(const std::vector<Form>& forms, const std::string& family) {
  writeForms(forms, family);
  for (const Form& form : forms) {
    std::vector<Lane> lanes = formLanes(form);
    for (Lane& lane : lanes) form.expect(lane);
    const std::vector<FormRegister> registers = registersOf(form);
    for (const bool guarded : {false, true}) {
      if (guarded && form.text.starts_with(".shared")) continue; // a declaration has no guard
      std::vector<uint64_t> got;
      try {
        got = runForm(form, guarded);
      } catch (const std::exception& failure) {
        BOOST_ERROR(form.text << ": " << failure.what());
        break;
      }
      size_t at = 0;
      int shown = 0;
      for (const FormRegister& r : registers) {
        if (!r.isResult()) continue;
        for (size_t i = 0; i < kFormLanes; ++i, ++at) {
          const uint64_t untouched = r.bits == 1 ? 0 : 0x5A5A5A5A5A5A5A5Au & r.mask();
          const uint64_t want = guarded && i % 2 == 0 ? untouched : r.of(lanes[i]) & r.mask();
          if (got[at] == want || ++shown > 3) continue;
          const Lane& v = lanes[i];
          BOOST_ERROR(form.text << (guarded ? " (odd lanes)" : "") << std::hex << ": %" << r.name << " is " << got[at]
                                << ", expected " << want << "; a=" << v.a << " b=" << v.b << " c=" << v.c
                                << " x=" << v.x << " y=" << v.y);
        }
      }
      if (guarded) continue;
      if (recordedForms().empty()) continue; // nothing recorded yet: the references alone judge
      const auto known = recordedForms().find(form.text);
      BOOST_CHECK_MESSAGE(known != recordedForms().end(), form.text << ": no result of an H200 is recorded");
      if (known != recordedForms().end())
        BOOST_CHECK_MESSAGE(known->second == formHash(got), form.text << ": an H200 gives something else");
    }
  }
}

} // namespace tiletwin::sim
