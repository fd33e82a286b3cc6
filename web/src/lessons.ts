// Guided tours: each is a sequence of views, given by their addresses, with a paragraph each.
export interface Step { text: string; address: string }
export interface Lesson { id: string; title: string; about: string; steps: Step[] }

export const lessons: Lesson[] = [
  {
    id: "first", title: "One leader from many", about: "The simplest protocol, and why it is slow.",
    steps: [
      { text: "Every agent starts as a leader. When two leaders interact, the responder gives up. Press play: at first leaders vanish quickly.", address: "#run/fratricide?n=400&engine=agents&seed=1" },
      { text: "Later few leaders are left among 400 agents, and have to find each other: the last two alone take about half of the whole time. The chart shows the long tail.", address: "#run/fratricide?n=400&engine=agents&seed=1&at=60000" },
      { text: "More trials beside the first: the tail is where they differ. The expected time is (n − 1)² interactions.", address: "#run/fratricide?n=400&engine=agents&seed=1&overlay=8" },
    ],
  },
  {
    id: "pll", title: "pll: the time-optimal election", about: "Sudo, Ooshita, Izumi, Kakugawa, Masuzawa: O(log n) time with O(log n) states.",
    steps: [
      { text: "Agents first split into two halves: candidates (status 1), which play for the leadership, and timers (status 2), which keep a common clock. Press play and watch the split.", address: "#run/pll?n=200&engine=agents&seed=15&view=status" },
      { text: "Candidates toss coins and count heads in a row; who learns of a larger number gives up. Here four leaders are left after this first game, and all agents wait for the timers.", address: "#run/pll?n=200&engine=agents&seed=15&view=epoch&at=20000" },
      { text: "The clock strikes and epoch 2 spreads through the population: the leaders draw random numbers and compare them. One leader is left, and it stays.", address: "#run/pll?n=200&engine=agents&seed=15&view=epoch&at=29000" },
    ],
  },
  {
    id: "ppl", title: "ppl: loosely stabilizing", about: "Sudo, Ooshita, Kakugawa, Masuzawa, Datta, Larmore: from any configuration, soon and for long.",
    steps: [
      { text: "Nobody leads. Every agent has a timer that only a leader refills; it spreads in interactions, and runs down where no leader is near.", address: "#run/ppl?n=200&init=no-leader&engine=agents&seed=3&view=timer_L" },
      { text: "When a timer is empty, its agent concludes that there is no leader and becomes one. Often several do, and a war begins: leaders send viruses, which kill leaders without a shield.", address: "#run/ppl?n=200&init=all-leaders&engine=agents&seed=3&view=virus" },
      { text: "Corrupt half of the population after it has settled, and watch it settle again.", address: "#run/ppl?n=200&init=random&engine=agents&seed=3&fault=corrupt:50%25@convergence%2B100" },
    ],
  },
  {
    id: "prl", title: "prl: a ring at war", about: "Yokota, Sudo, Masuzawa: time-optimal self-stabilization on rings.",
    steps: [
      { text: "Agents stand on a ring and interact with their neighbours only. Every one leads. A leader fires bullets to its right: live ones with its shield up, dummies without.", address: "#run/prl?n=40&init=all-leaders&engine=agents&seed=7" },
      { text: "From any configuration: bullets, signals and distances are random. A live bullet kills the next leader without a shield; the signal comes back and allows the next shot. Spokes show the distance to the nearest leader on the left.", address: "#run/prl?n=40&init=random&engine=agents&seed=7" },
      { text: "Without any leader the distances grow until one of them reaches N. Then that agent knows: nobody leads, and becomes a leader.", address: "#run/prl?n=24&init=no-leader-distL-zero&engine=agents&seed=2" },
    ],
  },
  {
    id: "electleader", title: "electleader: ranks", about: "Austin, Berenbrink, Friedetzky, Goette, Hintze: space against time.",
    steps: [
      { text: "All agents carry the same rank: as wrong as it can be. Somebody notices that two hold one rank, and a reset spreads like a rumour.", address: "#run/electleader?n=64&param=r=16&init=same&seed=1&view=role" },
      { text: "After the reset, agents rank themselves anew: a sheriff appoints deputies, deputies hand out labels, labels become ranks. Below the agents stands which ranks are held by one, by nobody, by several.", address: "#run/electleader?n=64&param=r=16&init=clean&seed=1&view=type" },
      { text: "Larger r needs more memory and less time. Move the slider of r and compare.", address: "#run/electleader?n=64&param=r=4&init=clean&seed=1&view=role" },
    ],
  },
  {
    id: "messages", title: "kmpp: messages on their way", about: "Kutten, Moses, Pandurangan, Peleg: singularly optimal randomized election.",
    steps: [
      { text: "Nodes are horizontal lines, messages slanted strokes. Each candidate asks a few random referees whether it may go on; play it and watch the phases.", address: "#run/kmpp-async?n=16&seed=1" },
      { text: "The adversary decides how long messages take. This one is slow to the node that leads.", address: "#run/kmpp-async?n=16&seed=1&delay=slow-leader" },
      { text: "The same in rounds: everything sent in one round arrives in the next.", address: "#run/kmpp-sync?n=24&seed=1" },
    ],
  },
  {
    id: "stabilization", title: "What self-stabilization means", about: "A protocol that recovers from anything, and one that does not.",
    steps: [
      { text: "fratricide elects from its clean configuration. Now imagine that all leaders die: nothing in its rules ever makes a leader again.", address: "#run/fratricide?n=100&engine=agents&seed=1" },
      { text: "prl starts anywhere: here every variable of every agent is random. It converges, because it must from every configuration.", address: "#run/prl?n=32&init=random&engine=agents&seed=5" },
      { text: "Kill its leader once it has settled, and corrupt half of the agents later: each time the ring recovers, and the recovery is measured.", address: "#run/prl?n=32&init=random&engine=agents&seed=5&fault=kill-leaders@convergence%2B20&fault=corrupt:50%25@convergence%2B2000" },
    ],
  },
  {
    id: "erratum-pll", title: "Watch the printed line fail: pll, line 9", about: "The paper prints max where it must be min.",
    steps: [
      { text: "With the line as printed, the first stroke of the clock jumps from epoch 1 to epoch 3, and nobody plays the second game. Three leaders are left.", address: "#run/pll?n=200&engine=agents&param=reading=printed&seed=25&view=epoch&at=30000" },
      { text: "The next stroke leaves the domain of the variable: epoch 4, where no rule applies. Two leaders stay for ever; the explorer reports that this trial can never converge.", address: "#run/pll?n=200&engine=agents&param=reading=printed&seed=25&view=epoch&at=59126" },
      { text: "With min, the same seed elects one leader.", address: "#run/pll?n=200&engine=agents&seed=25&view=epoch" },
    ],
  },
  {
    id: "erratum-kmpp", title: "Watch the printed line fail: kmpp, Algorithm 3", about: "A referee that records, and forgets to answer.",
    steps: [
      { text: "As printed, a referee whose chosen candidate asks again records the new phase and sends nothing, while the candidate waits for all answers. Everything stops in phase 2, and nobody is elected.", address: "#run/kmpp-async?n=16&seed=1&param=reading=printed" },
      { text: "Here the referee also answers, and a leader is elected.", address: "#run/kmpp-async?n=16&seed=1" },
    ],
  },
];
