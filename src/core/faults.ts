/** The places where a crash or an error must be harmless. */
export type FailPoint =
  | 'before-append'
  | 'before-projection'
  | 'before-commit'
  | 'after-commit'
  | 'before-reply'
  | 'in-checkpoint'
  | 'in-rebuild'
  | 'before-swap';

/** Called at each fail point; a test's own program throws or kills itself there. The service passes none. */
export type Faults = (point: FailPoint) => void;
