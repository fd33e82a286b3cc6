// The list of lessons, and the paragraph of the lesson that is being taken.
import { html } from "lit";
import { lessons, type Lesson } from "./lessons";

export interface Tour { of: Lesson; step: number }

export function lessonList(begin: (tour: Tour) => void) {
  return html`<p class="intro">Short tours. Each step is a link: what you see is the real trial, and you can play with it.</p>
    <div class="lessons">${lessons.map((lesson) => html`<section class="card"><h2>${lesson.title}</h2><p class="soft small">${lesson.about}</p>
      <p><button @click=${() => begin({ of: lesson, step: 0 })}>Begin, ${lesson.steps.length} steps</button></p></section>`)}</div>`;
}

export function tour({ of, step }: Tour, go: (tour: Tour | null) => void) {
  return html`<section class="card lesson" aria-label="Lesson"><h2>${of.title} · ${step + 1} of ${of.steps.length}</h2><p>${of.steps[step]!.text}</p>
    <div class="row"><button ?disabled=${step === 0} @click=${() => go({ of, step: step - 1 })}>Before</button>
    <button class="main" ?disabled=${step + 1 === of.steps.length} @click=${() => go({ of, step: step + 1 })}>Next</button>
    <button @click=${() => go(null)}>End the tour</button></div></section>`;
}
