const icon = (path: string) =>
  function Icon() {
    return (
      <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
        <path d={path} />
      </svg>
    );
  };

export const CheckIcon = icon('M5 12.5l4.5 4.5L19 7');
export const PlusIcon = icon('M12 5v14M5 12h14');
export const PencilIcon = icon('M4 20l1-4.5L16.5 4 20 7.5 8.5 19 4 20zM14 6.5L17.5 10');
export const BackIcon = icon('M14.5 5.5L8 12l6.5 6.5');
export const ClockIcon = icon('M12 4a8 8 0 100 16 8 8 0 000-16M12 8v4.5l3 2');
export const CloseIcon = icon('M6 6l12 12M18 6L6 18');
export const MoreIcon = icon('M9.5 5.5L16 12l-6.5 6.5');
