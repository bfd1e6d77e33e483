import { createElement, Fragment, options, type ComponentChild, type VNode } from 'preact';

// Translators, Chrome's among them, replace text nodes by elements. Preact would change text nodes that are in no page, and insert before
// nodes that are not children. So each text beside or within an element is an element, replaced when its words change.

const isText = (child: unknown): child is string | number => typeof child === 'string' || typeof child === 'number';

/** Keys make the words part of what an element is. Blanks stay between elements, which keep their places. */
function withTextElements(children: ComponentChild[]) {
  const made = [...children];
  made.forEach((child, index) => {
    const next = made[index + 1];
    if (!isText(child)) return;
    if (isText(next)) [made[index], made[index + 1]] = [null, `${child}${next}`];
    else if (`${child}`.trim()) made[index] = textElement(`${index} ${child}`, child);
  });
  return made;
}

let isTextElement = false;

function textElement(key: string, text: string | number) {
  isTextElement = true;
  const made = createElement('span', { key }, text);
  isTextElement = false;
  return made;
}

options.vnode = (vnode: VNode) => {
  const { type, props } = vnode as VNode<{ children?: ComponentChild | ComponentChild[]; translate?: unknown }>;
  // Components get texts as they are, and pass them on to elements.
  if ((type === Fragment || typeof type === 'string') && !isTextElement && props.translate === undefined)
    props.children = withTextElements(([] as ComponentChild[]).concat(props.children));
};
