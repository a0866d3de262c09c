// Losses and what they make of a posterior, as bayes_engine/decision/risk.py has it: R(a|x) = Σ_j λ_aj P(c_j|x),
// h*(x) = argmin_a R(a|x), ties by name; and the shift of a posterior to a prior of use, as bayes_engine/ledger.py.

const TIE = 1e-12                     // R_i and R_k closer than this times Σ_j (|λ_ij| + |λ_kj|) P(c_j|x) are tied

class Losses {                        // λ (A, K), rows are actions
  // `order` (A,): the actions as they win ties. `by` (A, K) marks the cells that a row's amount multiplies; null: all.
  constructor(table, order, by = null) {
    this.A = table.length; this.K = table[0].length
    this.order = order
    this.cells = Float64Array.from(table.flat())
    this.sizes = this.cells.map(Math.abs)
    this.marks = by?.flat() ?? null
    this.risks = new Float64Array(this.A)   // those of the row that was looked at last
  }

  risk(P, at = 0, amount = 1) {         // (A,) of the row whose posterior stands in P from `at`
    for (let a = 0; a < this.A; a++) this.risks[a] = this.sum(this.cells, a, P, at, amount)
    return this.risks
  }

  sum(cells, a, P, at, amount) {
    const { K, marks } = this
    let fixed = 0, each = 0
    for (let j = 0, c = a * K; j < K; j++, c++) if (marks && !marks[c]) fixed += cells[c] * P[at + j]; else each += cells[c] * P[at + j]
    return fixed + amount * each
  }

  // The action, by its position; −1 where the row has no posterior. The posterior need not sum to 1: only ratios count.
  decide(P, at = 0, amount = 1) {
    let mass = 0, least = this.order[0]
    for (let j = 0; j < this.K; j++) mass += P[at + j]
    const risks = this.risk(P, at, amount)
    if (!(mass > 0)) return -1
    for (const a of this.order) if (risks[a] < risks[least]) least = a
    const size = a => this.sum(this.sizes, a, P, at, amount), own = size(least)
    for (const a of this.order) if (a === least || risks[a] <= risks[least] + TIE * (size(a) + own)) return a
  }

  runnerUp(action) {                    // the cheapest of the other actions of the row decided last; −1 where there is none
    let next = -1
    for (let a = 0; a < this.A; a++) if (a !== action && (next < 0 || this.risks[a] < this.risks[next])) next = a
    return next
  }

  // λ less the cheapest action under each truth: the same decisions and ties, by risks whose ratio says how clear they are.
  regrets() {
    const { A, K, cells, order } = this, at = (a, j) => cells[a * K + j], row = Array.from({ length: A }, (_, a) => a)
    const cheapest = Array.from({ length: K }, (_, j) => Math.min(...row.map(a => at(a, j))))
    const regret = new Losses(row.map(a => cheapest.map((v, j) => at(a, j) - v)), order)
    regret.sizes = this.sizes
    return regret
  }
}

// The losses of a row with this amount, which multiplies the cells marked in `by`; all of them where it is null.
const atAmount = (loss, by, amount) => loss.map((row, i) => row.map((v, j) => by && !by[i][j] ? v : v * amount))

// log π_use − log π_own of each class, in nats
const priorShift = (own, use) => own.map((p, j) => p > 0 ? Math.log(use[j]) - Math.log(p) : 0)

// P(c|x) into P from `at`, of K log joints, or log posteriors, that stand in `logs` from there, and a shift of the prior
// ([]: none). Returns the log of what they summed to: −Infinity, and all P are 0, where no class is possible.
function posteriorAt(P, logs, at, K, shift) {
  let top = -Infinity, sum = 0
  for (let j = at; j < at + K; j++) top = Math.max(top, P[j] = logs[j] + (shift[j - at] ?? 0))
  if (top === -Infinity) { P.fill(0, at, at + K); return top }
  for (let j = at; j < at + K; j++) sum += P[j] = Math.exp(P[j] - top)
  for (let j = at; j < at + K; j++) P[j] /= sum
  return top + Math.log(sum)
}

function atPrior(posterior, shift) {    // one posterior, moved; null where no class is left
  const P = Float64Array.from(posterior)
  return posteriorAt(P, P.map(p => Math.log(p)), 0, P.length, shift) > -Infinity ? [...P] : null
}
